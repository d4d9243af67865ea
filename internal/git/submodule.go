package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/repo"
)

// submodules returns the commits of the submodules that are checked out. It reads the submodules themselves, so
// that no ignore setting hides them.
func (r *Repo) submodules(ctx context.Context, entries []repo.Entry) map[repo.Path]repo.Submodule {
	var found map[repo.Path]repo.Submodule
	for i := range entries {
		e := &entries[i]
		if e.Mode != repo.Gitlink || e.Flags.Has(repo.Conflicted) {
			continue
		}
		head, there, err := r.submoduleHead(ctx, e.Path)
		if !there {
			continue
		}
		if found == nil {
			found = map[repo.Path]repo.Submodule{}
		}
		found[e.Path] = repo.Submodule{Head: head, Err: err}
	}
	return found
}

// submoduleHead returns the commit that is checked out in the submodule at path. found is false if the
// submodule is not checked out.
func (r *Repo) submoduleHead(ctx context.Context, path repo.Path) (head repo.ID, found bool, err error) {
	dir, ok := r.below(path)
	if !ok {
		return repo.ID{}, false, nil
	}
	switch info, err := os.Lstat(filepath.Join(dir, ".git")); {
	case errors.Is(err, fs.ErrNotExist):
		return repo.ID{}, false, nil
	case err != nil:
		return repo.ID{}, true, err
	case info.Mode()&fs.ModeSymlink != 0:
		return repo.ID{}, true, fmt.Errorf("submodule %s: its .git is a symbolic link; ken does not follow it", path)
	}
	gitDir, err := gitDirIn(dir)
	if err == nil && gitDir == "" {
		err = errors.New("its .git does not lead to a git directory")
	}
	if err != nil {
		return repo.ID{}, true, fmt.Errorf("submodule %s: %w", path, err)
	}
	foreign, err := checkOwner(ctx, dir, gitDir)
	if err != nil {
		return repo.ID{}, true, fmt.Errorf("submodule %s: %w", path, err)
	}
	sub, err := open(dir, gitDir)
	if err != nil {
		return repo.ID{}, true, fmt.Errorf("submodule %s: %w", path, err)
	}
	sub.foreign = foreign
	now, err := sub.Head(ctx)
	if err != nil {
		return repo.ID{}, true, fmt.Errorf("submodule %s: %w", path, err)
	}
	return now.Commit, true, nil
}

// below returns the file name of a directory in the work tree; ok is false if an element of the path is not a
// directory. A symbolic link does not count as one, since it could lead out of the work tree.
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
