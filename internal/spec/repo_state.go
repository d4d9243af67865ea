package spec

import (
	"context"

	"ken/internal/repo"
)

// A repoState is where everything stands at one moment, as far as files of git's
// tell it.
type repoState struct {
	head    repo.ID
	lost    error // why head is not known
	main    Mainline
	view    string
	trees   []Worktree
	unknown []Unknown // of all nodes
}

// look reads the repository state. What it cannot learn is unknown, and no error.
func (r *Reader) look(ctx context.Context) (*repoState, error) {
	head, err := r.past.Head(ctx)
	if ctx.Err() != nil {
		return nil, err
	}
	o := &repoState{head: head.Commit, lost: err}
	miss := func(fact string, err error) {
		if err != nil {
			o.unknown = append(o.unknown, Unknown{fact, err.Error()})
		}
	}
	miss(FactHead, err)
	o.main.Name, o.main.Commit, err = r.past.Mainline(ctx)
	miss(FactMain, err)
	if o.view, err = r.past.View(ctx); err != nil {
		miss(FactHistory, err)
	}
	o.trees, err = r.past.Worktrees(ctx)
	miss(FactOverlay, err)
	return o, ctx.Err()
}

// heads returns the commits that everything is judged from.
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
