package git

import (
	"context"
	"fmt"

	"ken/internal/repo"
)

// DifferingPaths lists the paths that differ between two commits.
func (r *Repo) DifferingPaths(ctx context.Context, a, b repo.ID) ([]repo.Path, error) {
	out, err := r.git().Read(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative",
		"--ignore-submodules=none", "--no-ext-diff", "--no-textconv", a.String(), b.String(), "--")
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Short(), b.Short(), err)
	}
	return parsePaths("diff-tree", out)
}

// StagedSince lists the paths that differ between a commit and the index.
func (r *Repo) StagedSince(ctx context.Context, commit repo.ID) ([]repo.Path, error) {
	staged, err := r.stagedSince(ctx, commit, nil)
	if err != nil {
		return nil, err
	}
	var paths []repo.Path
	for _, s := range staged {
		paths = append(paths, s.Path)
	}
	return paths, nil
}
