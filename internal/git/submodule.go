package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/repo"
)

// fillSubmodules sets the commit that each gitlink's own HEAD is at, in place.
// It is read from the submodule itself, so no ignore setting hides it.
func (r *Repo) fillSubmodules(ctx context.Context, entries []repo.Entry) {
	for i := range entries {
		if e := &entries[i]; e.Mode == repo.Gitlink && !e.Flags.Has(repo.Conflicted) {
			e.Submodule = r.submoduleHead(ctx, e.Path)
		}
	}
}

// submoduleHead returns the commit checked out in the submodule at path, zero
// when there is none or it cannot be read.
func (r *Repo) submoduleHead(ctx context.Context, path repo.Path) repo.ID {
	dir, ok := r.below(path)
	if !ok {
		return repo.ID{}
	}
	if info, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return repo.ID{}
	}
	gitDir, err := gitDirIn(dir)
	if err != nil || gitDir == "" {
		return repo.ID{}
	}
	sub, err := open(dir, gitDir)
	if err != nil {
		return repo.ID{}
	}
	head, err := sub.Head(ctx)
	if err != nil {
		return repo.ID{}
	}
	return head.Commit
}

// below returns the file name of a directory in the work tree, ok false when
// something on the way is not a directory. A symbolic link is not: behind one,
// the path would lead out of the work tree.
func (r *Repo) below(path repo.Path) (dir string, ok bool) {
	dir = r.root
	for part := range strings.SplitSeq(string(path), "/") {
		dir = filepath.Join(dir, part)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return "", false
		}
	}
	return dir, true
}
