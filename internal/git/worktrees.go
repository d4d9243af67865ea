package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Worktrees lists the names of the worktrees that exist: "" for the main one,
// then the linked ones in order. A worktree whose directory is away but which
// git has not pruned still counts, since it may come back.
func (r *Repo) Worktrees() ([]string, error) {
	dir := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	names := []string{""}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
