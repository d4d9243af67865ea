package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ken/internal/atomicfile"
	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/content"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/prove"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
)

// Prove tests ken on the history of HEAD, by the repository's policy as it is now.
func (w *workspace) Prove(ctx context.Context, opts cli.ProveOptions) (*prove.Report, error) {
	if opts.Plot != "" {
		if err := checkPlot(opts.Plot); err != nil {
			return nil, err
		}
	}
	h, err := w.prover().Read(ctx, opts.Commits, func(done, total int) { opts.Progress("reading contents", done, total) })
	if err != nil {
		return nil, err
	}
	r := prove.Replay(h, prove.Options{Counts: w.cfg.Registry.Counts})
	if r.Commits.Replayed > 0 {
		if err := w.proveByIndex(ctx, r, h, opts); err != nil {
			return nil, err
		}
	}
	r.Conclude()
	if opts.Plot == "" {
		return r, ctx.Err()
	}
	return r, writePlot(opts.Plot, r)
}

// proveByIndex fills in what the search index is asked for. If it cannot be asked, the report
// says so.
func (w *workspace) proveByIndex(ctx context.Context, r *prove.Report, h prove.History, opts cli.ProveOptions) error {
	tasks := prove.Tasks(h, func(p repo.Path) bool {
		kind := w.files.KindByName(p)
		return kind == repo.KindSource || kind == repo.KindTest
	})
	parts := []struct {
		fact string
		ask  func() error
	}{
		{"briefs", func() (err error) { r.Briefs, err = w.measureBriefs(ctx, tasks, opts); return err }},
		{"find", func() (err error) { r.Found, err = w.askTasks(ctx, tasks, opts); return err }},
	}
	for _, part := range parts {
		err := part.ask()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Unknown = append(r.Unknown, prove.Unknown{Fact: part.fact, Reason: err.Error()})
		}
	}
	return nil
}

// codeAndTests are the kinds of files that tasks ask for.
var codeAndTests = []repo.Kind{repo.KindSource, repo.KindTest}

// askTasks asks both searches each task, on the tree and the history before its commit. The
// index is brought there, from the newest task to the oldest, inside a transaction that is
// rolled back.
func (w *workspace) askTasks(ctx context.Context, tasks []prove.Task, opts cli.ProveOptions) (found *prove.Found, err error) {
	found = &prove.Found{}
	if len(tasks) == 0 {
		return found, nil
	}
	x, err := searchindex.Open(ctx, w.searchIndexFile())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	err = x.Try(ctx, func(writer *searchindex.Writer) error {
		for i, task := range tasks {
			opts.Progress("asking ken find about past commits", i, len(tasks))
			tree := &pastTree{findTree{w: w, Tree: &commitTree{w: w, commit: task.Tree}}}
			if _, err := find.UpdateChanged(ctx, writer, tree); err != nil {
				return err
			}
			q := find.Query{Words: []string{task.Query}, Limit: find.DefaultLimit, Kinds: codeAndTests}
			answer, err := find.Search(ctx, x, unreadTree{tree}, q)
			if err != nil {
				return err
			}
			text, err := find.PlainSearch(ctx, x, q)
			if err != nil {
				return err
			}
			places := make([]repo.Path, len(answer.Places))
			for k, p := range answer.Places {
				places[k] = p.Path
			}
			found.Add(task, places, text)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// A pastTree is the tree of a commit without summaries: those of today were not written then.
type pastTree struct{ findTree }

// Files lists the files of the commit.
func (t *pastTree) Files(ctx context.Context) ([]find.File, error) {
	files, err := t.Tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	t.listed = make(map[repo.Path]*survey.File, len(files))
	list := make([]find.File, 0, len(files))
	for i := range files {
		f := &files[i]
		t.listed[f.Path] = f
		if f.Problem == "" {
			list = append(list, find.File{Path: f.Path, ID: f.ID, Kind: f.Kind, Size: f.Size})
		}
	}
	return list, nil
}

// An unreadTree is a tree whose files are not read: a rank does not depend on the best lines.
type unreadTree struct{ find.Tree }

// Read returns nothing.
func (unreadTree) Read(context.Context, repo.Path) []byte { return nil }

// sampledBriefs is how many files, and how many directories, briefs are made for.
const sampledBriefs = 10

// measureBriefs makes briefs of files that tasks changed, of their directories and of the
// repository, as they are now.
func (w *workspace) measureBriefs(ctx context.Context, tasks []prove.Task, opts cli.ProveOptions) (*prove.Briefs, error) {
	sizes := &prove.Briefs{}
	_, err := w.askIndex(ctx, "", func(x *searchindex.Index, t *findTree, cut bool) error {
		measure := func(paths []repo.Path) (prove.BriefSize, error) {
			var briefs, contents []int64
			for i, p := range paths {
				opts.Progress("measuring briefs", i, len(paths))
				r := &briefReader{w: w, x: x, t: t, cut: cut, survey: w.surveyOf(t.Tree, nil)}
				b, err := r.brief(ctx, p, 0)
				if err != nil {
					return prove.BriefSize{}, err
				}
				briefs = append(briefs, int64(b.Tokens))
				contents = append(contents, t.bytesBelow(p)/brief.BytesPerToken)
			}
			return prove.NewBriefSize(briefs, contents), nil
		}
		files, dirs := t.touchedNow(tasks)
		var err error
		if sizes.Files, err = measure(files); err != nil {
			return err
		}
		if sizes.Directories, err = measure(dirs); err != nil {
			return err
		}
		sizes.Repository, err = measure([]repo.Path{""})
		return err
	})
	if err != nil {
		return nil, err
	}
	return sizes, nil
}

// touchedNow returns an even selection of the files that tasks changed and that still exist,
// and of their directories.
func (t *findTree) touchedNow(tasks []prove.Task) (files, dirs []repo.Path) {
	for _, task := range tasks {
		for _, p := range task.Files {
			if t.listed[p] == nil {
				continue
			}
			files = append(files, p)
			if p.Dir() != "" {
				dirs = append(dirs, p.Dir())
			}
		}
	}
	return evenly(files), evenly(dirs)
}

// evenly returns at most sampledBriefs of the paths, each once and evenly spread.
func evenly(paths []repo.Path) []repo.Path {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(paths) <= sampledBriefs {
		return paths
	}
	list := make([]repo.Path, sampledBriefs)
	for i := range list {
		list[i] = paths[i*len(paths)/sampledBriefs]
	}
	return list
}

// bytesBelow is the size of a file, or of all files in a directory that policy admits.
func (t *findTree) bytesBelow(p repo.Path) int64 {
	n := int64(0)
	for path, f := range t.listed {
		if path.Under(p) && (f.Excluded == "" || path == p) {
			n += f.Size
		}
	}
	return n
}

// prover returns the reader of the history that is replayed.
func (w *workspace) prover() *prove.Reader {
	directories := survey.Options{Exclude: w.cfg.Survey.Exclude, Ranks: w.cfg.Survey.Ranks}
	return &prove.Reader{
		Git: w.git,
		Counts: func(p repo.Path, size int64, attributes repo.Attributes, head []byte) bool {
			if directories.LeftOut(p) {
				return false
			}
			kind := registry.Refine(content.KindOf(p, head), repo.Regular, attributes)
			return w.cfg.Registry.Excluded(p, kind, size) == ""
		},
		Outlines: func(ctx context.Context, contents []prove.Content, read prove.ReadContents) ([]*outline.Outline, error) {
			files := make([]*survey.File, len(contents))
			for i, c := range contents {
				files[i] = &survey.File{Path: c.Path, ID: c.ID, Size: c.Size}
			}
			return w.outlines(ctx, files, read)
		},
		IsDocument: docs.IsDocument,
		Mentioned:  docs.PathsIn,
	}
}

// checkPlot finds out whether a plot can be written before any work is done for it.
func checkPlot(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return &fault.Error{
			Kind: fault.Usage, Hint: "name a file: ken prove --plot " + fault.Quote(filepath.Join(name, "prove.svg")),
			Err: fmt.Errorf("plot: %s is not a file", name),
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".ken-plot-*")
	if err != nil {
		why := err
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			why = e.Err
		}
		return &fault.Error{
			Hint: "name a file where you may write: ken prove --plot " + fault.Quote(filepath.Join(os.TempDir(), "prove.svg")),
			Err:  fmt.Errorf("plot: write into %s: %w", filepath.Dir(name), why),
		}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func writePlot(name string, r *prove.Report) error {
	var plot bytes.Buffer
	err := prove.Plot(&plot, r)
	if err == nil {
		err = atomicfile.Write(name, plot.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("plot: write %s: %w", name, err)
	}
	return nil
}
