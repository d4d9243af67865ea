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
	read, err := r.past.Blobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the specs of %s: %w", commit.Short(), err)
	}
	for i, p := range asked {
		have[p] = readNode(File{Path: p, Content: read[i]})
	}
	return assemble(slices.Collect(maps.Values(have))), nil
}
