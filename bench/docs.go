package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// The limits of ken docs.
const (
	docsColdAtMost   = 3.0
	docsWarmAtMost   = 2.0
	docsMemoryBudget = 300_000_000

	docsSources = 10_000
	docsPages   = 1_000
	docsCommits = 1_000
	// docsRecipe is the version of the generator.
	docsRecipe = "1"

	docsColdWork   = "docs, cold"
	docsMemoryWork = "docs, cold, memory"
	docsWarmWork   = "docs, warm"
	docsGitWork    = "docs, warm, git processes"
)

// docsWorks fills the rows of ken docs.
func (b *bench) docsWorks(ctx context.Context) error {
	if !b.anyOf(docsColdWork, docsMemoryWork, docsWarmWork, docsGitWork) {
		return nil
	}
	dir, err := docsRepository(ctx, b.dir, b.env)
	if err != nil {
		return err
	}
	s := specSite{bench: b, dir: dir}
	progress("%s, %d documents", docsColdWork, docsPages)
	if err := s.docsCold(ctx); err != nil {
		return fmt.Errorf("%s: %w", docsColdWork, err)
	}
	progress("%s, %d documents", docsWarmWork, docsPages)
	if err := s.docsWarm(ctx); err != nil {
		return fmt.Errorf("%s: %w", docsWarmWork, err)
	}
	return nil
}

func (s specSite) docs(args ...string) command {
	return command{args: append([]string{s.ken, "docs"}, args...), dir: s.dir, env: s.env}
}

// docsCold measures ken docs without a cache, against ken survey run by outlines of the same files.
func (s specSite) docsCold(ctx context.Context) error {
	d := comparison{
		ken:    s.docs(),
		other:  command{args: []string{s.ken, "survey", "run", "--provider", "outline"}, dir: s.dir, env: s.env},
		rounds: min(s.rounds, specColdRounds),
		// Both sides start without a cache.
		beforeKen:   s.forget,
		beforeOther: s.forget,
		after:       func(ctx context.Context, _ int) error { return s.mustFind(ctx) },
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	if err := s.forget(); err != nil {
		return err
	}
	memory, err := d.ken.alone(ctx)
	if err != nil {
		return err
	}
	s.rows = append(s.rows,
		row{work: docsColdWork, files: docsPages, unit: "documents", ken: ken, against: "ken survey run", other: other, atMost: docsColdAtMost},
		row{work: docsMemoryWork, files: docsPages, unit: "documents", memory: memory, memoryBudget: docsMemoryBudget},
	)
	return nil
}

// docsWarm measures ken docs when nothing changed since the last answer.
func (s specSite) docsWarm(ctx context.Context) error {
	if err := s.mustFind(ctx); err != nil {
		return err
	}
	d := comparison{
		ken:    s.docs(),
		other:  command{args: []string{s.ken, "status"}, dir: s.dir, env: s.env},
		rounds: max(s.rounds, specShortRounds),
	}
	ken, other, _, err := d.measure(ctx)
	if err != nil {
		return err
	}
	processes, err := s.gitProcesses(ctx, s.docs())
	if err != nil {
		return err
	}
	s.rows = append(s.rows,
		row{work: docsWarmWork, files: docsPages, unit: "documents", ken: ken, against: "ken status", other: other, atMost: docsWarmAtMost},
		row{work: docsGitWork, files: docsPages, unit: "documents", counted: true, count: processes},
	)
	return nil
}

// mustFind returns an error unless ken docs reads all pages and finds moved and gone mentions.
func (s specSite) mustFind(ctx context.Context) error {
	r, err := s.docs("--json").run(ctx)
	if err != nil {
		return err
	}
	var found struct {
		Documents int
		Counts    map[string]int
	}
	if err := json.Unmarshal(r.stdout, &found); err != nil {
		return err
	}
	if found.Documents != docsPages || found.Counts["moved"] == 0 || found.Counts["gone"] == 0 || found.Counts["unknown"] > 0 {
		return fmt.Errorf("ken docs found %v in %d documents", found.Counts, found.Documents)
	}
	return nil
}

// docsRepository returns a generated repository of sources and pages about them. Its history moves files and renames
// functions.
func docsRepository(ctx context.Context, cache string, env []string) (string, error) {
	dir := filepath.Join(cache, "docs-v"+docsRecipe)
	if _, err := os.Stat(dir); err == nil && git(ctx, dir, env, nil, "diff-index", "--quiet", "HEAD") == nil {
		return dir, nil
	}
	progress("generating %d documents in %s", docsPages, dir)
	half := dir + ".part"
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(half)); err != nil {
		return "", err
	}
	if err := git(ctx, "", env, nil, "init", "--quiet", "--initial-branch=main", half); err != nil {
		return "", err
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(writeDocsHistory(pw)) }()
	err := git(ctx, half, env, pr, "-c", "core.compression=1", "fast-import", "--quiet", "--date-format=raw")
	pr.CloseWithError(err)
	if err == nil {
		err = git(ctx, half, env, nil, "reset", "--quiet", "--hard")
	}
	if err == nil {
		err = settle(ctx, half, env)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(half))
	}
	return dir, os.Rename(half, dir)
}

// writeDocsHistory writes a commit with all files. Each of the following commits edits four files, moves one, renames a
// function and edits a page.
func writeDocsHistory(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	rng := rand.New(rand.NewPCG(7, docsPages))
	where := make([]string, docsSources)
	version := make([]int, docsSources)
	put := func(name, text string) {
		fmt.Fprintf(out, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	commit := func(n int) {
		fmt.Fprintf(out, "commit refs/heads/main\ncommitter Bench <bench@example.com> %d +0000\ndata 4\nwork\n", 1_700_000_000+n)
	}
	commit(0)
	for i := range where {
		where[i] = fmt.Sprintf("pkg%d/part%d/file%d.go", i/400, i/20, i)
		put(where[i], docsSource(i, 0))
	}
	pages := make([]string, docsPages)
	for i := range pages {
		pages[i] = docsPage(rng, where)
		put(fmt.Sprintf("docs/area%d/page%d.md", i/50, i), pages[i])
	}
	for n := range docsCommits {
		commit(n + 1)
		for range 4 {
			i := rng.IntN(docsSources)
			put(where[i], docsSource(i, version[i])+fmt.Sprintf("\n// Edited %d times.\n", n))
		}
		moved := rng.IntN(docsSources)
		to := strings.Replace(where[moved], "/part", "/moved", 1)
		fmt.Fprintf(out, "R %s %s\n", where[moved], to)
		where[moved] = to
		renamed := rng.IntN(docsSources)
		version[renamed]++
		put(where[renamed], docsSource(renamed, version[renamed]))
		page := rng.IntN(docsPages)
		pages[page] += fmt.Sprintf("Edited in %d.\n", n)
		put(fmt.Sprintf("docs/area%d/page%d.md", page/50, page), pages[page])
	}
	return out.Flush()
}

// docsSource returns a file that declares one function.
func docsSource(i, version int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package part%d\n\n// Handle%dVersion%d handles what is given to it.\nfunc Handle%dVersion%d(name string) error {\n", i/20, i, version, i, version)
	for k := range 20 {
		fmt.Fprintf(&b, "\tif name == %q {\n\t\treturn errors.New(\"step %d of %d\")\n\t}\n", vocabulary[(i+k)%len(vocabulary)], k, i)
	}
	b.WriteString("\treturn nil\n}\n")
	return b.String()
}

// docsPage returns a page that mentions files and functions.
func docsPage(rng *rand.Rand, where []string) string {
	var b strings.Builder
	b.WriteString("# A page\n\n")
	for range 8 {
		i, k := rng.IntN(docsSources), rng.IntN(docsSources)
		fmt.Fprintf(&b, "The server reads `%s`, and calls `Handle%dVersion0` to handle what it is given.\n\n", where[i], k)
	}
	return b.String()
}
