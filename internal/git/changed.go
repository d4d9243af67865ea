package git

import (
	"context"
	"fmt"
	"slices"

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

// ChangedSince lists the paths that differ between a commit and the index, and the paths that are neither
// tracked nor ignored, sorted. It does not look at unstaged edits.
func (r *Repo) ChangedSince(ctx context.Context, commit repo.ID) ([]repo.Path, error) {
	staged, err := r.stagedSince(ctx, commit, nil)
	if err != nil {
		return nil, err
	}
	var paths []repo.Path
	for _, s := range staged {
		paths = append(paths, s.Path)
	}
	others, err := r.git().Read(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	more, err := parsePaths("ls-files", others)
	if err != nil {
		return nil, err
	}
	paths = append(paths, more...)
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
