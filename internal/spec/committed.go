package spec

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/repo"
)

// nodesAt returns the nodes of a commit, sorted by path. What the work tree has just
// as it was committed is not asked of git again.
func (r *Reader) nodesAt(ctx context.Context, commit repo.ID) ([]*Node, error) {
	set, err := r.past.SpecsAt(ctx, commit)
	if err != nil || len(set) == 0 {
		return nil, err
	}
	here, _, err := r.src.Specs(ctx)
	if err != nil {
		here = nil // all of it is asked of git
	}
	content := make(map[repo.Path][]byte, len(set))
	for _, f := range here {
		if id, ok := set[f.Path]; ok && r.isStored(f, id) {
			content[f.Path] = f.Content
		}
	}
	paths := slices.Sorted(maps.Keys(set))
	var ids []repo.ID
	for _, p := range paths {
		if _, ok := content[p]; !ok {
			ids = append(ids, set[p])
		}
	}
	read, err := r.past.Blobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the specs of %s: %w", commit.Short(), err)
	}
	var files []File
	for _, p := range paths {
		b, ok := content[p]
		if !ok {
			b, read = read[0], read[1:]
		}
		files = append(files, File{Path: p, Content: b})
	}
	return Load(files), nil
}
