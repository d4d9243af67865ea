package prove

import (
	"context"
	"errors"
	"slices"

	"ken/internal/brief"
	"ken/internal/content"
	"ken/internal/find"
	"ken/internal/git"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
	"ken/internal/tree"
)

// A Prover tests ken on the history of one repository.
type Prover struct {
	Sources     tree.Sources
	Finder      *find.Finder
	Briefer     *brief.Briefer
	Directories survey.Options // the directories that are left out
}

// ProverOptions limit the history to test.
type ProverOptions struct {
	Commits  int                                // the maximum number of commits
	Progress func(step string, done, total int) // receives the current step and its progress
}

// Prove tests ken on the history of HEAD, with the current policy of the repository.
func (w *Prover) Prove(ctx context.Context, opts ProverOptions) (*Report, error) {
	h, err := w.ReadHistory(ctx, opts.Commits, func(done, total int) { opts.Progress("reading contents", done, total) })
	if err != nil {
		return nil, err
	}
	r := Replay(h, Options{Counts: w.Sources.Policy.Counts})
	if r.Commits.Replayed > 0 {
		if err := w.proveByIndex(ctx, r, h, opts); err != nil {
			return nil, err
		}
	}
	r.SetVerdict()
	return r, ctx.Err()
}

// proveByIndex adds the results that need the search index. If the index is not available, the report says so.
func (w *Prover) proveByIndex(ctx context.Context, r *Report, h History, opts ProverOptions) error {
	tasks := Tasks(h, func(p repo.Path) bool {
		kind := w.Sources.Workspace.Files.KindByName(p)
		return kind == repo.KindSource || kind == repo.KindTest
	})
	parts := []struct {
		fact string
		ask  func() error
	}{
		{"briefs", func() (err error) { r.Briefs, err = w.measureBriefs(ctx, tasks, opts); return err }},
		{"find", func() (err error) { r.Find, err = w.askTasks(ctx, tasks, opts); return err }},
	}
	for _, part := range parts {
		err := part.ask()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Unknown = append(r.Unknown, Unknown{Fact: part.fact, Reason: err.Error()})
		}
	}
	return nil
}

// codeAndTests are the kinds of files that tasks search for.
var codeAndTests = []repo.Kind{repo.KindSource, repo.KindTest}

// askTasks runs both searches for each task, on the tree and the history before its commit. It moves the index to
// that commit, from the newest task to the oldest, in a transaction that it rolls back.
func (w *Prover) askTasks(ctx context.Context, tasks []Task, opts ProverOptions) (found *FindResult, err error) {
	found = &FindResult{}
	if len(tasks) == 0 {
		return found, nil
	}
	x, err := w.Finder.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	err = x.UpdateTemporarily(ctx, func(writer *searchindex.Writer) error {
		for i, task := range tasks {
			opts.Progress("asking ken find about past commits", i, len(tasks))
			files := find.NewCommitTree(tree.NewCommitTree(w.Sources, task.Tree))
			files.NoSummaries = true
			if _, err := find.UpdateChanged(ctx, writer, files); err != nil {
				return err
			}
			q := find.Query{Words: []string{task.Query}, Limit: find.DefaultLimit, Kinds: codeAndTests}
			answer, err := find.Search(ctx, x, noContents{}, q)
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

// noContents reads no file: ranks do not depend on the best lines.
type noContents struct{}

// Read returns nothing.
func (noContents) Read(context.Context, repo.Path) []byte { return nil }

// sampledBriefs limits how many files, and how many directories, briefs are made for.
const sampledBriefs = 10

// measureBriefs makes briefs of files that tasks changed, of their directories and of the repository, in their
// current state.
func (w *Prover) measureBriefs(ctx context.Context, tasks []Task, opts ProverOptions) (*Briefs, error) {
	sizes := &Briefs{}
	err := w.Briefer.Measure(ctx, func(t *find.IndexedTree, size func(repo.Path) (int, error)) error {
		measure := func(paths []repo.Path) (BriefSize, error) {
			var briefs, contents []int64
			for i, p := range paths {
				opts.Progress("measuring briefs", i, len(paths))
				tokens, err := size(p)
				if err != nil {
					return BriefSize{}, err
				}
				briefs = append(briefs, int64(tokens))
				contents = append(contents, bytesBelow(t, p)/brief.BytesPerToken)
			}
			return NewBriefSize(briefs, contents), nil
		}
		files, dirs := touchedNow(t, tasks)
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

// touchedNow returns an even selection of the files that tasks changed and that still exist, and of their
// directories.
func touchedNow(t *find.IndexedTree, tasks []Task) (files, dirs []repo.Path) {
	for _, task := range tasks {
		for _, p := range task.Files {
			if t.Listed(p) == nil {
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

// evenly returns at most sampledBriefs of the paths, evenly spread, without duplicates.
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

// bytesBelow returns the size of a file, or of all files in a directory that the policy admits.
func bytesBelow(t *find.IndexedTree, p repo.Path) int64 {
	n := int64(0)
	for _, path := range t.Paths() {
		f := t.Listed(path)
		if path.Under(p) && (f.Excluded == "" || path == p) {
			n += f.Size
		}
	}
	return n
}

func (w *Prover) git() *git.Repo { return w.Sources.Workspace.Git }

// counts reports whether the policy requires a summary of a file, given its path, its size, its current git attributes
// and the beginning of its content, which is nil if it was not read.
func (w *Prover) counts(p repo.Path, size int64, attributes repo.Attributes, head []byte) bool {
	if w.Directories.LeftOut(p) {
		return false
	}
	kind := registry.RefineKind(content.KindOf(p, head), repo.Regular, attributes)
	return w.Sources.Policy.Excluded(p, kind, size) == ""
}
