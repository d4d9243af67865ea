package spec

import (
	"context"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
)

// A repoState is the state of the repository at one moment: HEAD, the main branch and the worktrees. It is
// read from files of the git directory.
type repoState struct {
	head    repo.ID
	headErr error // why head could not be read
	main    Mainline
	view    string
	trees   []worktree
	unknown []fault.Unknown // facts that are unknown for all nodes
}

// readState reads the repository state. A part that cannot be read is added to unknown. It returns an error only
// if the context is done.
func (r *Reader) readState(ctx context.Context) (*repoState, error) {
	head, err := r.ws.Git.Head(ctx)
	if ctx.Err() != nil {
		return nil, err
	}
	o := &repoState{head: head.Commit, headErr: err}
	miss := func(fact string, err error) {
		if err != nil {
			o.unknown = append(o.unknown, fault.NewUnknown(fact, err))
		}
	}
	miss(derive.FactHead, err)
	o.main.Name, o.main.Commit, err = r.ws.Git.Mainline(ctx, r.opts.Main)
	miss(derive.FactMain, err)
	if o.view, err = r.ws.Git.HistoryView(ctx); err != nil {
		miss(derive.FactHistory, err)
	}
	o.trees, err = r.worktrees(ctx)
	miss(derive.FactOverlay, err)
	return o, ctx.Err()
}

// heads returns the commits of HEAD, the main branch and all worktrees, each once.
func (o *repoState) heads() []repo.ID {
	var ids []repo.ID
	seen := map[repo.ID]bool{{}: true}
	add := func(id repo.ID) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	add(o.head)
	add(o.main.Commit)
	for _, w := range o.trees {
		if w.Err == nil {
			add(w.Head.Commit)
		}
	}
	return ids
}
