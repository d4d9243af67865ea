package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// places is how many files an engine may name.
const places = 10

// A ranker names the files of one tree that matter most for a query, best first.
type ranker func(ctx context.Context, query string) ([]string, error)

// An engine prepares a ranker for a tree.
type engine struct {
	name    string
	prepare func(st *study, ctx context.Context, t tree) (ranker, error)
}

var allEngines = []engine{
	{"ken", (*study).kenEngine},
	{"bm25", (*study).bm25Engine},
	{"grep", (*study).grepEngine},
	{"ctags", (*study).ctagsEngine},
	{"codegraph", (*study).codegraphEngine}, // last: it writes into the tree
}

// chosenEngines returns those of -engines, or else those that the study asks by default,
// after it has made sure that their programs are there.
func (st *study) chosenEngines(ctx context.Context, byDefault string) ([]engine, error) {
	names := strings.Split(cmp.Or(st.engines, byDefault), ",")
	var chosen []engine
	for _, name := range names {
		i := slices.IndexFunc(allEngines, func(e engine) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-engines: unknown engine %q", name)
		}
		chosen = append(chosen, allEngines[i])
	}
	for _, need := range []struct {
		engine string
		get    func(context.Context) error
	}{{"ctags", st.installCtags}, {"codegraph", st.installCodegraph}} {
		if slices.Contains(names, need.engine) {
			if err := need.get(ctx); err != nil {
				return nil, err
			}
		}
	}
	return chosen, nil
}

// A corpus knows how often each word is in each of some documents.
type corpus struct {
	docs  []document
	in    map[string]int // documents that have the word
	total int            // words of all documents
}

type document struct {
	path   string
	counts map[string]int
	length int
}

// pathWeight is how many times a word of a path counts.
const pathWeight = 10

func (c *corpus) add(path string, words ...[]string) {
	d := document{path: path, counts: make(map[string]int)}
	for _, list := range words {
		for _, w := range list {
			d.counts[w]++
		}
		d.length += len(list)
	}
	if c.in == nil {
		c.in = make(map[string]int)
	}
	for w := range d.counts {
		c.in[w]++
	}
	c.docs = append(c.docs, d)
	c.total += d.length
}

// sourceCorpus reads the source files of a tree: their contents, and their paths.
func sourceCorpus(t tree) (*corpus, error) {
	c := new(corpus)
	err := t.texts(func(name string, text []byte) {
		path := splitWords(name)
		c.add(name, splitWords(string(text)), slices.Repeat(path, pathWeight))
	})
	return c, err
}

// bm25 ranks by Okapi BM25.
func (c *corpus) bm25(query string) []string {
	words := distinct(splitWords(query))
	return c.rank(func(d document) (score, tie float64) { return c.bm25Score(words, d), 0 })
}

// bm25Score has the usual constants, k1 1.2 and b 0.75.
func (c *corpus) bm25Score(words []string, d document) float64 {
	const k1, b = 1.2, 0.75
	n := float64(len(c.docs))
	length := float64(d.length) / (float64(c.total) / n)
	score := 0.0
	for _, w := range words {
		count := float64(d.counts[w])
		if count == 0 {
			continue
		}
		in := float64(c.in[w])
		idf := math.Log(1 + (n-in+0.5)/(in+0.5))
		score += idf * count * (k1 + 1) / (count + k1*(1-b+b*length))
	}
	return score
}

// grep ranks by how many different words of the query a document has, then by how often.
func (c *corpus) grep(query string) []string {
	words := distinct(splitWords(query))
	return c.rank(func(d document) (different, all float64) {
		for _, w := range words {
			if n := d.counts[w]; n > 0 {
				different++
				all += float64(n)
			}
		}
		return different, all
	})
}

// rank returns the best documents by a score above zero. Equal ones stay in order.
func (c *corpus) rank(scoreOf func(document) (score, tie float64)) []string {
	type hit struct {
		path       string
		score, tie float64
	}
	var hits []hit
	for _, d := range c.docs {
		if score, tie := scoreOf(d); score > 0 {
			hits = append(hits, hit{d.path, score, tie})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.tie, a.tie))
	})
	var paths []string
	for _, h := range hits[:min(places, len(hits))] {
		paths = append(paths, h.path)
	}
	return paths
}

func (st *study) grepEngine(_ context.Context, t tree) (ranker, error) {
	c, err := sourceCorpus(t)
	return func(_ context.Context, query string) ([]string, error) { return c.grep(query), nil }, err
}

func (st *study) bm25Engine(_ context.Context, t tree) (ranker, error) {
	c, err := sourceCorpus(t)
	return func(_ context.Context, query string) ([]string, error) { return c.bm25(query), nil }, err
}

// ctagsEngine ranks files by the words of the names that they declare, as grep does.
func (st *study) ctagsEngine(ctx context.Context, t tree) (ranker, error) {
	tags, err := st.output(ctx, t.dir, "ctags", "-R", "--sort=no", "--fields=", "--exclude=.git", "-f", "-", ".")
	if err != nil {
		return nil, err
	}
	c := tagCorpus(tags)
	return func(_ context.Context, query string) ([]string, error) { return c.grep(query), nil }, nil
}

// tagCorpus makes a document of each file in a list of tags.
func tagCorpus(tags []byte) *corpus {
	words := make(map[string][]string)
	var order []string
	for line := range bytes.Lines(tags) {
		name, rest, _ := strings.Cut(string(line), "\t")
		file, _, found := strings.Cut(rest, "\t")
		file = strings.TrimPrefix(file, "./")
		if !found || strings.HasPrefix(name, "!_") || !isSource(file) {
			continue
		}
		if words[file] == nil {
			order = append(order, file)
		}
		words[file] = append(words[file], splitWords(name)...)
	}
	slices.Sort(order)
	c := new(corpus)
	for _, file := range order {
		c.add(file, words[file])
	}
	return c
}

// answerLimit turns a program that hangs into a failure.
const answerLimit = 2 * time.Minute

// kenEngine asks ken find. The first question builds the index.
func (st *study) kenEngine(ctx context.Context, t tree) (ranker, error) {
	ask := func(ctx context.Context, query string) ([]string, error) {
		ctx, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		out, err := st.output(ctx, t.dir, st.ken, "find", "--json", "--kind", "code,test", "--", query)
		if err != nil {
			return nil, err
		}
		return kenPlaces(out)
	}
	_, err := ask(ctx, "build the index")
	return ask, err
}

// kenPlaces reads the files from an answer of ken find --json.
func kenPlaces(answer []byte) ([]string, error) {
	var found struct {
		Places []struct{ Path string }
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, fmt.Errorf("ken find --json: %w", err)
	}
	var paths []string
	for _, p := range found.Places {
		if p.Path != "" {
			paths = append(paths, p.Path)
		}
	}
	paths = distinct(paths)
	return paths[:min(places, len(paths))], nil
}

// codegraphEngine takes the files that codegraph explore names outside of the code that
// it quotes.
func (st *study) codegraphEngine(ctx context.Context, t tree) (ranker, error) {
	if _, err := st.codegraph(ctx, t, "init", t.dir); err != nil {
		return nil, err
	}
	tracked := make(map[string]bool)
	for _, f := range t.files {
		tracked[f] = true
	}
	return func(ctx context.Context, query string) ([]string, error) {
		ctx, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		out, err := st.codegraph(ctx, t, "explore", query)
		if err != nil {
			return nil, err
		}
		return codegraphFiles(string(out), tracked), nil
	}, nil
}

var (
	quotedCode = regexp.MustCompile("(?s)```.*?```")
	pathInText = regexp.MustCompile(`[\p{L}\p{N}_./@+\[\]()-]+\.[\p{L}\p{N}_]+`)
)

// codegraphFiles returns the tracked files that an answer names, in order.
func codegraphFiles(answer string, tracked map[string]bool) []string {
	var paths []string
	for _, name := range pathInText.FindAllString(quotedCode.ReplaceAllString(answer, ""), -1) {
		for _, name := range []string{name, strings.TrimLeft(name, "(")} {
			if tracked[name] {
				paths = append(paths, name)
			}
		}
	}
	paths = distinct(paths)
	return paths[:min(places, len(paths))]
}

// codegraph runs CodeGraph, which sends nothing anywhere and leaves no process.
func (st *study) codegraph(ctx context.Context, t tree, args ...string) ([]byte, error) {
	shim := filepath.Join(st.npmDir(), "node_modules", codegraphPackage, "npm-shim.js")
	quiet := []string{"env", "DO_NOT_TRACK=1", "CODEGRAPH_TELEMETRY=0", "CODEGRAPH_NO_DAEMON=1", "node", shim}
	return st.output(ctx, t.dir, append(quiet, args...)...)
}
