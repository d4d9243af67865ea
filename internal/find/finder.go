package find

import (
	"context"
	"errors"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/tree"
)

// A Finder searches the index of a worktree, and keeps the index up to date.
type Finder struct {
	Sources tree.Sources // of the repository
}

func (f *Finder) indexFile() string { return searchindex.FileName(f.Sources.Workspace.Git.GitDir()) }

// HasIndex reports whether the index has been built.
func (f *Finder) HasIndex(ctx context.Context) bool {
	x := f.OpenExisting(ctx)
	if x == nil {
		return false
	}
	n, err := x.Size(ctx)
	return errors.Join(err, x.Close()) == nil && n > 0
}

// OpenExisting opens the index without an update. It returns nil if there is none.
func (f *Finder) OpenExisting(ctx context.Context) *searchindex.Index {
	return searchindex.OpenExisting(ctx, f.indexFile())
}

// Open opens the index, or creates an empty one. It does not update it.
func (f *Finder) Open(ctx context.Context) (*searchindex.Index, error) {
	return searchindex.Open(ctx, f.indexFile())
}

// Ask updates the search index for the work tree, or for the commit at if it is not zero, lists the files and calls
// ask. The remarks say what limits the answer; cut says that the clone is shallow.
func (f *Finder) Ask(ctx context.Context, at repo.ID, ask func(x *searchindex.Index, t *IndexedTree, cut bool) error) (remarks []string, err error) {
	return f.askIndex(ctx, at, func(x *searchindex.Index, t *IndexedTree, cut bool) error {
		if _, err := t.Files(ctx); err != nil {
			return err
		}
		return ask(x, t, cut)
	})
}

// askIndex is Ask for queries that need only the index: it does not list the files if they are unchanged since the
// last update.
func (f *Finder) askIndex(ctx context.Context, at repo.ID, ask func(x *searchindex.Index, t *IndexedTree, cut bool) error) (remarks []string, err error) {
	files := &IndexedTree{Workspace: f.Sources.Workspace}
	update := (*searchindex.Index).Update
	if at.IsZero() {
		files.Tree = tree.NewWork(f.Sources)
	} else {
		files.Tree = tree.NewCommit(f.Sources, at)
		update = (*searchindex.Index).Try
	}
	x, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	cut := false
	err = update(x, ctx, func(writer *searchindex.Writer) error {
		if cut, err = Update(ctx, writer, files); err != nil || at.IsZero() {
			return err
		}
		return ask(x, files, cut)
	})
	if errors.Is(err, searchindex.ErrBusy) && at.IsZero() && f.HasIndex(ctx) {
		files.IndexBusy = true
		remarks = append(remarks, "another process is updating the search index; this answer is from the index as it was before")
		err = nil
	}
	if err == nil && at.IsZero() {
		err = ask(x, files, cut)
	}
	return remarks, err
}

// Find searches the work tree, or the commit at if it is not zero.
func (f *Finder) Find(ctx context.Context, q Query, at repo.ID) (answer *Answer, err error) {
	shallow := false
	remarks, err := f.askIndex(ctx, at, func(x *searchindex.Index, t *IndexedTree, cut bool) (err error) {
		shallow = cut
		if answer, err = Search(ctx, x, t, q); err != nil {
			return err
		}
		gone, err := f.removedWords(ctx, t, q.Words)
		answer.Remarks = append(answer.Remarks, gone...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !at.IsZero() {
		answer.At = at.String()
	}
	if shallow {
		remarks = append(remarks, "the clone is shallow: older commits are not searched (git fetch --unshallow)")
	}
	answer.Remarks = append(answer.Remarks, remarks...)
	return answer, nil
}

// UsesOptions select the uses to list.
type UsesOptions struct {
	Asked string  // a path, PATH#SYMBOL or a symbol
	Limit int     // the number of files per list; 0 is the default
	Tests bool    // only the tests
	At    repo.ID // a commit; the work tree if zero
}

// Uses lists the users of a file, a directory or a symbol of the work tree, or of a commit.
func (f *Finder) Uses(ctx context.Context, opts UsesOptions) (*UsesAnswer, error) {
	return f.uses(ctx, opts, f.Sources.Workspace.Path)
}

// UsesFromRoot is Uses for a path that is relative to the root.
func (f *Finder) UsesFromRoot(ctx context.Context, opts UsesOptions) (*UsesAnswer, error) {
	return f.uses(ctx, opts, f.Sources.Workspace.RootPath)
}

// uses implements Uses; resolve makes a path relative to the root.
func (f *Finder) uses(ctx context.Context, opts UsesOptions, resolve func(string) (repo.Path, error)) (answer *UsesAnswer, err error) {
	q := UsesQuery{Asked: opts.Asked, Limit: opts.Limit, Tests: opts.Tests}
	if q.Whole, err = resolve(opts.Asked); err != nil {
		return nil, err
	}
	if q.Whole == "" {
		return nil, &fault.Error{Kind: fault.Usage, Hint: "ken brief", Err: errors.New("the whole repository has no users: name a file, a directory or a symbol")}
	}
	if i := strings.LastIndexByte(opts.Asked, '#'); i > 0 {
		p, err := resolve(opts.Asked[:i])
		if err != nil {
			return nil, err
		}
		q.Path = p
		q.Symbol = opts.Asked[i+1:]
	}
	remarks, err := f.Ask(ctx, opts.At, func(x *searchindex.Index, t *IndexedTree, _ bool) (err error) {
		answer, err = Uses(ctx, x, t, q)
		if missing, ok := errors.AsType[*NoPathError](err); ok {
			return f.NoPath(ctx, "uses", t, missing.Path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !opts.At.IsZero() {
		answer.At = opts.At.String()
	}
	answer.Remarks = append(answer.Remarks, remarks...)
	return answer, nil
}

// AllUses calls see with every edge between files.
func (f *Finder) AllUses(ctx context.Context, at repo.ID, see func(WholeEdge) error) error {
	_, err := f.Ask(ctx, at, func(x *searchindex.Index, _ *IndexedTree, _ bool) error { return AllEdges(ctx, x, see) })
	return err
}
