package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/survey"
)

// What a base is filled with: texts as long as ken prove assumes them to be, at four bytes
// to a token, and paths as long as in the public repositories of docs/scale.md.
const (
	fillFiles     = 10_000 // of a repository
	fillMachines  = 2      // that have each
	fillTexts     = 4_000  // about files of a repository
	fillText      = 600    // bytes of one
	fillAnswer    = 1_600  // bytes of a text about a directory
	fillDirectory = 6      // files in one
	fillFull      = 50     // repositories
	fillTenth     = fillFull / 10
)

// A filler makes up what people would have written.
type filler struct {
	rand  *rand.Rand
	words []string
	zipf  *rand.Zipf
}

func newFiller(seed uint64) *filler {
	f := &filler{rand: rand.New(rand.NewPCG(seed, 2))}
	heads := strings.Fields("b br c ch d f fl g h k l m n p pr qu r s st str t tr v w")
	tails := strings.Fields("ad al and ar ate ead ear eck ed el en ent er ess et ick ile in ing ion is ite oad ock old on or ore ound ow uct ust")
	for range 3000 {
		w := ""
		for range 1 + f.rand.IntN(3) {
			w += heads[f.rand.IntN(len(heads))] + tails[f.rand.IntN(len(tails))]
		}
		f.words = append(f.words, w)
	}
	f.zipf = rand.NewZipf(f.rand, 1.1, 5, uint64(len(f.words)-1))
	return f
}

// text returns so many bytes of words, some of them far more common than others.
func (f *filler) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(f.words[f.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()[:bytes]
}

// path returns that of the i-th file of a repository, 58 bytes in the mean.
func (f *filler) path(i int) repo.Path {
	d := i / fillDirectory
	return repo.Path(fmt.Sprintf("packages/%s-%d/src/%s/%s_%d/%s_%s%d.go",
		f.words[d%40], d%40, f.words[d%97], f.words[d%1013], d, f.words[i%2011], f.words[i%709], i))
}

// content returns the id of the i-th file's content of a repository, in some version.
func content(of, i, version int) repo.Content {
	sum := sha1.Sum(fmt.Append(nil, of, i, version))
	return repo.Content{ID: repo.IDFromBytes(sum[:])}
}

// rows are those of a work tree. What belongs to the machine alone, its stats, stays there.
func (f *filler) rows(of, from, n, version int) []registry.Row {
	list := make([]registry.Row, n)
	for i := range list {
		c := content(of, from+i, version)
		list[i] = registry.Row{Path: f.path(from + i), Kind: repo.KindSource, Mode: 0o100644, Content: c, About: fresh.Basis{Content: c}}
	}
	return list
}

var fillTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// files are texts about files.
func (f *filler) files(of, from, n, version int) []share.Record {
	list := make([]share.Record, n)
	for i := range list {
		list[i] = share.Record{File: &fresh.Record{
			Basis: fresh.Basis{Content: content(of, from+i, version)}, Path: f.path(from + i), Text: f.text(fillText),
			Author: "claude-haiku-4-5", Recipe: "survey/1 claude-haiku-4-5", At: fillTime.Add(time.Duration(from+i) * time.Second),
		}}
	}
	return list
}

// directories are texts about directories, each of its files and of one below it.
func (f *filler) directories(of, from, n, version int) []share.Record {
	list := make([]share.Record, n)
	for i := range list {
		d := from + i
		r := &survey.Record{
			Path: f.path(d * fillDirectory).Dir(), Text: f.text(fillAnswer),
			Author: "claude-haiku-4-5", Recipe: "survey/1 claude-haiku-4-5", At: fillTime.Add(time.Duration(d) * time.Second),
		}
		for j := range fillDirectory {
			file := d*fillDirectory + j
			digest := func(of string) fresh.Digest { return sha256.Sum256(fmt.Append(nil, of, file, version)) }
			r.Basis.Files = append(r.Basis.Files, survey.FileBasis{
				Name: []byte(f.path(file).Base()), ID: content(of, file, version).ID,
				Shape: survey.Shape{Language: "go", Tokens: digest("tokens"), Interface: digest("interface"), Digest: digest("digest")},
			})
		}
		r.Basis.Children = []survey.ChildBasis{{Name: []byte(f.words[d%1013]), Text: sha256.Sum256(fmt.Append(nil, "below", d))}}
		list[i] = share.Record{Directory: r}
	}
	return list
}
