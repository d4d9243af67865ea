package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// Head returns the branch and the commit of HEAD. A detached HEAD has no branch. The commit is zero if
// the branch has none yet.
func (r *Repo) Head(ctx context.Context) (repo.Head, error) {
	if ctx.Err() != nil {
		return repo.Head{}, command.Stopped(ctx, "read HEAD")
	}
	if !r.unknownLayout {
		head, err := r.headFromFiles()
		if !errors.Is(err, errUnusual) {
			return head, err
		}
	}
	return r.headFromGit(ctx)
}

func (r *Repo) headFromFiles() (repo.Head, error) {
	id, name, err := r.follow("HEAD")
	if errors.Is(err, errNoRef) {
		if name == "HEAD" {
			return repo.Head{}, errUnusual
		}
		err = nil
	}
	if err != nil {
		return repo.Head{}, err
	}
	if name == "HEAD" {
		name = ""
	}
	return repo.Head{Commit: id, Branch: name}, nil
}

// headFromGit reads HEAD by running git, which understands every layout.
func (r *Repo) headFromGit(ctx context.Context) (repo.Head, error) {
	var head repo.Head
	name, symbolic, err := r.git().Probe(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return repo.Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	if symbolic {
		head.Branch = strings.TrimSuffix(name, "\n")
	}
	id, found, err := r.resolveByGit(ctx, "HEAD")
	if err != nil {
		return repo.Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	if !found {
		// Git gives the same answer for a branch without commits and for a broken one.
		if !symbolic || r.looseExists(head.Branch) {
			return repo.Head{}, r.brokenRef("HEAD")
		}
		return head, nil
	}
	head.Commit = id
	return head, nil
}
