package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/repo"
)

// ChangedBy returns the full id of a commit and the paths that it changed compared with its first parent, sorted. A
// root commit changed all its files. An unknown rev is a [fault.Usage].
func (r *Repo) ChangedBy(ctx context.Context, rev string) (commit repo.ID, paths []repo.Path, err error) {
	if commit, err = r.commit(ctx, rev); err != nil {
		return repo.ID{}, nil, err
	}
	// At the boundary of a shallow clone git takes a commit for a root commit.
	cut, err := r.cutOff(commit)
	if err != nil {
		return repo.ID{}, nil, err
	}
	if cut {
		return repo.ID{}, nil, &fault.Error{
			Hint: "fetch more history: git fetch --deepen=1",
			Err:  fmt.Errorf("list what %s changed: its parent is not in this shallow clone", commit.Short()),
		}
	}
	out, err := r.git().Read(ctx, nil, "diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only",
		"--no-renames", "--diff-merges=first-parent", "--no-relative", "--ignore-submodules=none",
		"--no-ext-diff", "--no-textconv", commit.String(), "--")
	if err != nil {
		return repo.ID{}, nil, fmt.Errorf("list what %s changed: %w", commit.Short(), err)
	}
	if paths, err = parsePaths("diff-tree", out); err != nil {
		return repo.ID{}, nil, err
	}
	slices.Sort(paths) // diff.orderFile may have ordered them
	return commit, slices.Compact(paths), nil
}

// commit returns the commit of a revision that a user gave.
func (r *Repo) commit(ctx context.Context, rev string) (repo.ID, error) {
	unknown := func(why string) error {
		return &fault.Error{
			Kind: fault.Usage,
			Hint: "recent ones: git log --oneline -5",
			Err:  fmt.Errorf("no commit %q: %s", rev, why),
		}
	}
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return repo.ID{}, unknown("not a revision")
	}
	if rev == "HEAD" { // the common case needs no process
		if head, err := r.Head(ctx); err == nil && !head.Commit.IsZero() {
			return head.Commit, nil
		}
	}
	out, found, err := r.git().Probe(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if why, refused := errors.AsType[*command.Error](err); refused {
		return repo.ID{}, unknown(why.Text)
	}
	if err != nil {
		return repo.ID{}, err
	}
	if found {
		id, err := repo.ParseID(strings.TrimSuffix(out, "\n"))
		if err != nil {
			return repo.ID{}, fmt.Errorf("git rev-parse: %w", err)
		}
		return id, nil
	}
	head, err := r.Head(ctx)
	if err != nil {
		return repo.ID{}, err
	}
	if head.Commit.IsZero() {
		return repo.ID{}, &fault.Error{
			Kind: fault.Usage,
			Hint: "make the first one: git commit",
			Err:  fmt.Errorf("no commit %q: the branch has no commits yet", rev),
		}
	}
	return repo.ID{}, unknown("git knows none by that name")
}

// cutOff reports whether the commit is at the boundary of a shallow clone.
func (r *Repo) cutOff(commit repo.ID) (bool, error) {
	b, _, err := readFile(filepath.Join(r.common, "shallow"), maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read shallow commits: %w", err)
	}
	return strings.Contains(string(b), commit.String()), nil
}
