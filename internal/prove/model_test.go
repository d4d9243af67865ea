package prove

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A naive is a second implementation of the replay, on whole trees. From one commit to the next it keeps only the
// texts of directories, each with its full basis.
type naive struct {
	opts     Options
	files    map[repo.Path]File
	texts    map[repo.ID]bool
	dirTexts map[string]string // texts by directory
	written  map[string]string // texts by their basis
}

// dirs returns the directories that count, bottom up, with their content.
func (n *naive) dirs(files map[repo.Path]File) (order []string, own map[string][]repo.Path, children map[string][]string) {
	own, children = make(map[string][]repo.Path), make(map[string][]string)
	seen := make(map[string]bool)
	for p, f := range files {
		if !f.Counts {
			continue
		}
		dir := string(p.Dir())
		own[dir] = append(own[dir], p)
		for d := p.Dir(); !seen[string(d)]; d = d.Dir() {
			seen[string(d)] = true
			if d == "" {
				break
			}
			children[string(d.Dir())] = append(children[string(d.Dir())], string(d))
		}
	}
	order = slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		deep := func(s string) int { return len(strings.FieldsFunc(s, func(r rune) bool { return r == '/' })) }
		return deep(b) - deep(a)
	})
	for d := range seen {
		slices.Sort(own[d])
		slices.Sort(children[d])
	}
	return order, own, children
}

func (n *naive) basis(dir string, files map[repo.Path]File, own []repo.Path, children []string) string {
	var b strings.Builder
	for _, p := range own {
		fmt.Fprintf(&b, "%q %s\n", p.Base(), files[p].ID)
	}
	for _, c := range children {
		fmt.Fprintf(&b, "%q/ %q\n", repo.Path(c).Base(), n.dirTexts[c])
	}
	return b.String()
}

func (n *naive) begin() {
	order, own, children := n.dirs(n.files)
	for _, d := range order {
		b := n.basis(d, n.files, own[d], children[d])
		n.dirTexts[d], n.written[b] = b, b
	}
	for _, f := range n.files {
		n.texts[f.ID] = n.texts[f.ID] || f.Counts
	}
}

func (n *naive) apply(c *Commit) Outcome {
	o := Outcome{Commit: c.ID, Subject: c.Subject, Merge: c.Merge}
	was := maps.Clone(n.files)
	orderWas, _, childrenWas := n.dirs(was)
	for _, f := range was {
		if f.Counts {
			o.Texts++
		}
	}
	o.Texts += len(orderWas)
	counting := make(map[string]bool) // directories with a change that counts
	touched := make(map[string]bool)
	for _, ch := range c.Changes {
		dir := string(ch.Path.Dir())
		delete(n.files, ch.Path)
		if ch.New != (File{}) {
			n.files[ch.Path] = ch.New
		}
		if ch.Old.ID == ch.New.ID && ch.Old.Counts == ch.New.Counts || !ch.Old.Counts && !ch.New.Counts {
			continue
		}
		touched[dir] = true
		o.Unknown = o.Unknown || ch.Old.Counts && ch.Old.Absent || ch.New.Counts && ch.New.Absent
		known := n.texts[ch.New.ID]
		switch {
		case ch.Old.Counts && ch.New.Counts:
			o.ByChecksum++
			o.Grades.count(ch.Grade)
			if n.opts.Counts(ch.Grade) {
				counting[dir] = true
				if !known {
					o.StaleFiles++
				}
			}
		case ch.Old.Counts:
			o.Removed++
			counting[dir] = true
		case known:
			o.Carried++
			o.ByChecksum++
			counting[dir] = true
		default:
			o.Added++
			counting[dir] = true
		}
	}
	n.judge(&o, childrenWas, touched, counting)
	for _, ch := range c.Changes {
		n.texts[ch.New.ID] = n.texts[ch.New.ID] || ch.New.Counts
	}
	return o
}

func (n *naive) judge(o *Outcome, childrenWas map[string][]string, touched, counting map[string]bool) {
	before := maps.Clone(n.dirTexts)
	order, own, children := n.dirs(n.files)
	for d := range before {
		if !slices.Contains(order, d) {
			delete(n.dirTexts, d)
		}
	}
	for _, d := range order {
		b := n.basis(d, n.files, own[d], children[d])
		below := !slices.Equal(children[d], childrenWas[d]) ||
			slices.ContainsFunc(children[d], func(c string) bool { return before[c] != n.dirTexts[c] })
		_, had := before[d]
		if had && !touched[d] && !below {
			continue
		}
		if text, ok := n.written[b]; ok {
			n.dirTexts[d] = text
			continue
		}
		if had && !counting[d] && !below {
			continue
		}
		switch {
		case !had:
			o.NewDirs++
		case counting[d]:
			o.StaleSelf++
		default:
			o.StaleBelow++
		}
		n.dirTexts[d] = b
		defer func() { n.written[b] = b }() // if two directories need the same text, both became stale
	}
}

// randomHistory makes few contents at few paths, so that moves, copies, reverts, and added and removed directories
// are common.
func randomHistory(rnd *rand.Rand) History {
	ids := make([]repo.ID, 8)
	for i := range ids {
		id, err := repo.ParseID(fmt.Sprintf("%040x", i+1))
		if err != nil {
			panic(err)
		}
		ids[i] = id
	}
	absent := rnd.IntN(4) == 0
	file := func() File {
		k := rnd.IntN(len(ids))
		return File{ID: ids[k], Size: int64(k * k * 700), Counts: k != 3, Absent: absent && k == 5}
	}
	path := func() repo.Path {
		p := ""
		for range rnd.IntN(4) {
			p += string("abc"[rnd.IntN(3)]) + "/"
		}
		return repo.Path(p + string("xyz"[rnd.IntN(3)]))
	}
	now := make(map[repo.Path]File)
	var h History
	for range rnd.IntN(12) {
		now[path()] = file()
	}
	for _, p := range slices.Sorted(maps.Keys(now)) {
		h.Before = append(h.Before, Entry{p, now[p]})
	}
	for i := range 1 + rnd.IntN(8) {
		c := Commit{ID: ids[i%len(ids)], Subject: fmt.Sprint("commit ", i)}
		seen := make(map[repo.Path]bool)
		set := func(p repo.Path, f File) {
			if now[p] == f || seen[p] {
				return
			}
			seen[p] = true
			c.Changes = append(c.Changes, Change{Path: p, Old: now[p], New: f, Grade: fresh.Grades[rnd.IntN(4)]})
		}
		switch rnd.IntN(4) {
		case 0: // a directory moves
			from, to := path().Dir(), path().Dir()
			for _, p := range slices.Sorted(maps.Keys(now)) {
				if from != "" && p.Under(from) && !to.Under(from) && to != "" {
					set(to+p[len(from):], now[p])
					set(p, File{})
				}
			}
		default:
			for range rnd.IntN(4) {
				f := File{}
				if rnd.IntN(3) > 0 {
					f = file()
				}
				set(path(), f)
			}
		}
		for _, ch := range c.Changes {
			if delete(now, ch.Path); ch.New != (File{}) {
				now[ch.Path] = ch.New
			}
		}
		h.Commits = append(h.Commits, c)
	}
	return h
}

// The replay by changes has the same result as the naive one on whole trees.
func TestReplayMatchesNaiveReplay(t *testing.T) {
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := randomHistory(rnd)
		counts := []func(fresh.Grade) bool{
			func(g fresh.Grade) bool { return g != fresh.GradeFormat },
			func(g fresh.Grade) bool { return g == fresh.GradeContent || g == fresh.GradeInterface },
			func(fresh.Grade) bool { return true },
		}[seed%3]
		opts := Options{Counts: counts}
		n := &naive{opts, make(map[repo.Path]File), make(map[repo.ID]bool), make(map[string]string), make(map[string]string)}
		for _, e := range h.Before {
			n.files[e.Path] = e.File
		}
		n.begin()
		r := Replay(h, opts)
		for i := range h.Commits {
			want, got := n.apply(&h.Commits[i]), r.History[i]
			if want.Unknown && got.Unknown {
				continue // its figures are in no total
			}
			if got != want {
				t.Fatalf("seed %d, commit %d, %+v\n got %+v\nwant %+v", seed, i, h.Commits[i].Changes, got, want)
			}
		}
		if l := r.Lifetimes.Files; l.Stale > int(r.PerCommit.StaleFiles.Total) && r.Commits.Unknown == 0 {
			t.Fatalf("seed %d: %d first summaries went stale, of %d in all", seed, l.Stale, r.PerCommit.StaleFiles.Total)
		}
		order, own, _ := n.dirs(n.files)
		files := 0
		for _, list := range own {
			files += len(list)
		}
		if r.Directories != len(order) || r.Files != files {
			t.Fatalf("seed %d: %d files, %d directories; want %d, %d", seed, r.Files, r.Directories, files, len(order))
		}
	}
}
