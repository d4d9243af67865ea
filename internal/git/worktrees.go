package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Worktrees lists the names of the worktrees: "" for the main one, then the linked ones, sorted. A worktree with a
// missing directory counts until git prunes it, since the directory may come back.
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
