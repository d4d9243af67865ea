package spec

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/repo"
)

// nodesAt returns the nodes of a commit, sorted by path, without their bodies. What the
// work tree has just as it was committed is not asked of git again; x is what it has.
func (r *Reader) nodesAt(ctx context.Context, commit repo.ID, x *index) ([]*Node, error) {
	set, err := r.past.SpecsAt(ctx, commit)
	if err != nil || len(set) == 0 {
		return nil, err
	}
	have, err := r.nodesIn(ctx, set, x)
	if err != nil {
		return nil, fmt.Errorf("read the specs of %s: %w", commit.Short(), err)
	}
	return assemble(slices.Collect(maps.Values(have))), nil
}

// nodesIn returns the nodes of spec files, one by one. x is what the work tree has: git is
// not asked for that again.
func (r *Reader) nodesIn(ctx context.Context, set Set, x *index) (map[repo.Path]*Node, error) {
	have := make(map[repo.Path]*Node, len(set))
	for i := range x.Nodes {
		if n, sum := x.node(i); n != nil && n.Blind == "" && set[n.Path] == sum && !sum.IsZero() {
			n.ID, n.Parent = "", ""
			have[n.Path] = n
		}
	}
	var ids []repo.ID
	var asked []repo.Path
	for p, id := range set {
		if have[p] == nil {
			ids, asked = append(ids, id), append(asked, p)
		}
	}
	if len(ids) == 0 {
		return have, nil
	}
	read, err := r.past.Blobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, p := range asked {
		have[p] = readNode(repo.LoadedFile{Path: p, Content: read[i]})
	}
	return have, nil
}
