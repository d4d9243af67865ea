package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/repo"
)

// submodules returns the commits that the gitlinks' own HEADs are at. They are
// read from the submodules themselves, so no ignore setting hides them.
func (r *Repo) submodules(ctx context.Context, entries []repo.Entry) map[repo.Path]repo.ID {
	var heads map[repo.Path]repo.ID
	for i := range entries {
		e := &entries[i]
		if e.Mode != repo.Gitlink || e.Flags.Has(repo.Conflicted) {
			continue
		}
		if head := r.submoduleHead(ctx, e.Path); !head.IsZero() {
			if heads == nil {
				heads = map[repo.Path]repo.ID{}
			}
			heads[e.Path] = head
		}
	}
	return heads
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
