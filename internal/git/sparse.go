package git

import (
	"os"
	"path/filepath"
)

// Sparse reports whether the checkout may leave out files that git tracks.
func (r *Repo) Sparse() bool {
	_, err := os.Lstat(filepath.Join(r.gitDir, "info", "sparse-checkout"))
	return err == nil
}
