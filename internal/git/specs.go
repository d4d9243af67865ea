package git

import (
	"context"
	"fmt"

	"ken/internal/repo"
	"ken/internal/spec"
)

// SpecsAt returns the spec files of a commit with their contents' ids. A commit
// that is zero has none; one that is not here is an error.
func (r *Repo) SpecsAt(ctx context.Context, commit repo.ID) (spec.Set, error) {
	if commit.IsZero() {
		return spec.Set{}, nil
	}
	set := make(spec.Set)
	err := r.lsTree(ctx, func(item treeItem) error {
		if item.kind == "blob" && item.mode != repo.Symlink && item.path.Base() == spec.FileName { // a link is no spec
			set[item.path] = item.id
		}
		return nil
	}, "-r", commit.String(), "--", spec.Root+"/")
	if err != nil {
		return nil, fmt.Errorf("list the specs of %s: %w", commit.Short(), err)
	}
	return set, nil
}
