package app

import (
	"context"
	"errors"

	"ken/internal/find"
	"ken/internal/searchindex"
)

// withIndex brings the search index up to date with the work tree, or with the commit that at
// names, and calls ask with it. It returns what limits the answer.
func (w *workspace) withIndex(ctx context.Context, at string, ask func(*searchindex.Index, *findTree) error) (remarks []string, err error) {
	tree := &findTree{w: w}
	update := (*searchindex.Index).Update
	if at == "" {
		tree.oneTree = &surveyTree{w: w}
	} else {
		commit, err := w.commitOf(ctx, at)
		if err != nil {
			return nil, err
		}
		tree.oneTree = &commitTree{w: w, commit: commit}
		update = (*searchindex.Index).Try
	}
	x, err := searchindex.Open(ctx, w.searchIndexFile())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	cut := false
	err = update(x, ctx, func(writer *searchindex.Writer) error {
		if cut, err = find.Update(ctx, writer, tree); err != nil || at == "" {
			return err
		}
		return ask(x, tree)
	})
	if at == "" && errors.Is(err, searchindex.ErrBusy) {
		remarks = append(remarks, "another process is updating the search index; this answer is from the index as it was before")
		_, err = tree.Files(ctx)
	}
	if at == "" && err == nil {
		err = ask(x, tree)
	}
	if err != nil {
		return nil, err
	}
	if cut {
		remarks = append(remarks, "the clone is shallow: older commits are not counted (git fetch --unshallow)")
	}
	return remarks, nil
}
