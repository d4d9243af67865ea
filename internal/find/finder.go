package find

import (
	"context"
	"errors"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/tree"
)

// A Finder searches the index of a worktree, and keeps the index up to date.
type Finder struct{ tree.Sources }

func (f *Finder) indexFile() string { return searchindex.FileName(f.Workspace.Git.GitDir()) }

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

// WithIndex updates the search index for the work tree, or for the commit at if it is not zero. Then it lists the files
// and calls ask.
func (f *Finder) WithIndex(ctx context.Context, at repo.ID, ask func(x *searchindex.Index, t *IndexedTree) error) error {
	return f.withIndexOnly(ctx, at, func(x *searchindex.Index, t *IndexedTree) error {
		if _, err := t.Files(ctx); err != nil {
			return err
		}
		return ask(x, t)
	})
}

// withIndexOnly is WithIndex for queries that need only the index: it does not list the files if they are unchanged
// since the last update.
func (f *Finder) withIndexOnly(ctx context.Context, at repo.ID, ask func(x *searchindex.Index, t *IndexedTree) error) (err error) {
	x, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if at.IsZero() {
		return f.withWorkTreeIndex(ctx, x, ask)
	}
	t := newCommitTree(tree.NewCommitTree(f.Sources, at))
	return x.UpdateTemporarily(ctx, func(writer *searchindex.Writer) (err error) {
		if t.Shallow, err = Update(ctx, writer, t); err != nil {
			return err
		}
		return ask(x, t)
	})
}

// withWorkTreeIndex updates the index for the work tree and calls ask. If another process is updating the index, ask
// gets the index as it was before.
func (f *Finder) withWorkTreeIndex(ctx context.Context, x *searchindex.Index, ask func(x *searchindex.Index, t *IndexedTree) error) error {
	t := NewWorkTree(tree.NewWorkTree(f.Sources))
	err := x.Update(ctx, func(writer *searchindex.Writer) (err error) {
		t.Shallow, err = Update(ctx, writer, t)
		return err
	})
	if errors.Is(err, searchindex.ErrBusy) && f.HasIndex(ctx) {
		t.IndexBusy = true
		err = nil
	}
	if err != nil {
		return err
	}
	return ask(x, t)
}

// Find searches the work tree, or the commit at if it is not zero.
func (f *Finder) Find(ctx context.Context, q Query, at repo.ID) (answer *Answer, err error) {
	err = f.withIndexOnly(ctx, at, func(x *searchindex.Index, t *IndexedTree) (err error) {
		if answer, err = Search(ctx, x, t, q); err != nil {
			return err
		}
		answer.Removed, err = t.removedWords(ctx, q.Words)
		if t.IndexBusy {
			answer.Unknown = append(answer.Unknown, IndexBusy)
		}
		if t.Shallow {
			answer.Unknown = append(answer.Unknown, fault.Unknown{
				What: "commits", Why: "the clone is shallow: older commits are not searched", Command: "git fetch --unshallow",
			})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !at.IsZero() {
		answer.At = at.String()
	}
	return answer, nil
}

// IndexBusy is unknown in an answer from an index that could not be updated.
var IndexBusy = fault.Unknown{Why: "another process is updating the search index; this answer is from the index as it was before"}
