package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/git/index"
	"ken/internal/repo"
)

// Tree returns the tree of a commit; ok is false if the repository does not have the commit.
func (r *Repo) Tree(ctx context.Context, commit repo.ID) (tree repo.ID, ok bool, err error) {
	if commit.IsZero() {
		return repo.ID{}, false, nil
	}
	r.mu.Lock()
	tree, ok = r.trees[commit]
	r.mu.Unlock()
	if ok {
		return tree, true, nil
	}
	if tree, ok, err = r.object(ctx, commit.String()+"^{tree}"); err != nil || !ok {
		return repo.ID{}, false, err
	}
	r.mu.Lock()
	r.trees[commit] = tree
	r.mu.Unlock()
	return tree, true, nil
}

// object looks up an object by a revision expression without white space; ok is false if it does not
// exist.
func (r *Repo) object(ctx context.Context, expr string) (id repo.ID, ok bool, err error) {
	out, err := r.git().Read(ctx, strings.NewReader(expr+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return repo.ID{}, false, err
	}
	return parseBatchCheck(out)
}

// parseBatchCheck parses a line of `git cat-file --batch-check`: id and type, or the expression and the
// reason why there is no object.
func parseBatchCheck(out string) (id repo.ID, ok bool, err error) {
	name, what, cut := strings.Cut(strings.TrimSuffix(out, "\n"), " ")
	if !cut {
		return repo.ID{}, false, fmt.Errorf("git cat-file: cannot read %q", out)
	}
	switch what {
	case "missing":
		return repo.ID{}, false, nil
	case "commit", "tree", "blob", "tag":
		id, err = repo.ParseID(name)
		if err == nil && id.IsZero() {
			err = errors.New("an id of zeros")
		}
		if err != nil {
			return repo.ID{}, false, fmt.Errorf("git cat-file: %w", err)
		}
		return id, true, nil
	}
	return repo.ID{}, false, fmt.Errorf("git cat-file: cannot read %q", out)
}

// Reachable reports whether HEAD or a ref reaches the commit. A missing commit is not reachable.
func (r *Repo) Reachable(ctx context.Context, commit repo.ID) (bool, error) {
	if commit.IsZero() {
		return false, nil
	}
	head, err := r.Head(ctx)
	if err != nil {
		return false, err
	}
	if head.Commit == commit {
		return true, nil
	}
	// Usually HEAD reaches it. If git fails here, the next call reports the reason.
	if !head.Commit.IsZero() {
		if ok, err := r.git().Check(ctx, "merge-base", "--is-ancestor", commit.String(), head.Commit.String()); err == nil && ok {
			return true, nil
		}
	}
	if _, ok, err := r.object(ctx, commit.String()+"^{commit}"); err != nil || !ok {
		return false, err
	}
	// for-each-ref --contains walks the history of every ref: minutes in a large repository.
	out, err := r.git().Read(ctx, nil, "rev-list", "--max-count=1", commit.String(), "--not", "--all", "--")
	return out == "", err
}

// At returns the id of a path in a commit; ok is false if the commit does not have the path. A missing
// commit is an error.
func (r *Repo) At(ctx context.Context, commit repo.ID, path repo.Path) (id repo.ID, ok bool, err error) {
	if !index.ValidPath([]byte(path)) {
		return repo.ID{}, false, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("%s is not a valid path", path)}
	}
	if commit.IsZero() {
		return repo.ID{}, false, fmt.Errorf("look up %s: no commit to look in", path)
	}
	err = r.objects().ListTree(ctx, func(item repo.File) error {
		if item.Path == path {
			id, ok = item.ID, true
		}
		return nil
	}, commit.String(), "--", string(path))
	if err != nil {
		return repo.ID{}, false, fmt.Errorf("look up %s in %s: %w", path, commit.Short(), err)
	}
	return id, ok, nil
}

// IndexDiffers reports whether the index differs from a tree. The zero id is the empty tree. A path that was only
// added with git add -N is not a difference.
func (r *Repo) IndexDiffers(ctx context.Context, s *repo.Snapshot, tree repo.ID) (bool, error) {
	if tree.IsZero() {
		for _, e := range s.Index.Entries {
			if !e.Flags.Has(repo.IntentToAdd) {
				return true, nil
			}
		}
		return false, nil
	}
	if s.Index.Tree == tree {
		return false, nil
	}
	same, err := r.git().Check(ctx, "diff-index", "--cached", "--quiet", "--ita-invisible-in-index",
		"--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", tree.String(), "--")
	return !same, err
}

// Untracked lists the files that are neither tracked nor ignored, in git's order. A repository inside the
// work tree is one item with a slash at the end.
func (r *Repo) Untracked(ctx context.Context) ([]repo.Path, error) {
	out, err := r.git().Read(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard", "--full-name")
	if err != nil {
		return nil, err
	}
	return parsePaths("ls-files", out)
}

// parsePaths splits paths that end in a NUL each.
func parsePaths(command, out string) ([]repo.Path, error) {
	if out == "" {
		return nil, nil
	}
	body, ok := strings.CutSuffix(out, "\x00")
	if !ok {
		return nil, fmt.Errorf("git %s: truncated output", command)
	}
	list := strings.Split(body, "\x00")
	paths := make([]repo.Path, len(list))
	for i, p := range list {
		if p == "" {
			return nil, fmt.Errorf("git %s: an empty path", command)
		}
		paths[i] = repo.Path(p)
	}
	return paths, nil
}
