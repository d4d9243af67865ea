package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A RootCommit is the commit that a history begins with, and the commit whose history that is.
type RootCommit struct{ Root, Tip repo.ID }

// RootCommit returns the root commit of the main branch (see [Repo.Mainline]):
// the oldest of several, and the smallest id of several with the same
// time. It walks the whole history, except for the part that known, an
// earlier result or zero, covers. It returns an error in a repository
// without a commit, and in a shallow clone unless known has the answer.
func (r *Repo) RootCommit(ctx context.Context, known RootCommit) (RootCommit, error) {
	_, tip, err := r.Mainline(ctx, "")
	if err == nil && tip.IsZero() {
		var head repo.Head
		head, err = r.Head(ctx)
		tip = head.Commit
	}
	if err != nil {
		return RootCommit{}, err
	}
	if tip == known.Tip && !known.Root.IsZero() {
		return known, nil
	}
	shallow, err := r.optionalFile("shallow")
	if err != nil {
		return RootCommit{}, err
	}
	switch {
	case shallow != "" && !known.Root.IsZero():
		return known, nil
	case shallow != "":
		return RootCommit{}, &fault.Error{
			Hint: "run git fetch --unshallow, or set the id that ken share status prints in a complete clone in .ken/config.yaml: team: {repository: ID}",
			Err:  errors.New("root commit: unknown, because this clone is shallow"),
		}
	case tip.IsZero():
		return RootCommit{}, &fault.Error{
			Hint: "commit something, or name the repository in .ken/config.yaml: team: {repository: NAME}",
			Err:  errors.New("root commit: there is no commit yet"),
		}
	}
	return r.rootOf(ctx, tip, known)
}

func (r *Repo) rootOf(ctx context.Context, tip repo.ID, known RootCommit) (RootCommit, error) {
	// If the branch was reset or recreated, or its old commits are gone, the earlier result is of no use.
	goesOn := false
	if !known.Root.IsZero() && !known.Tip.IsZero() {
		after, err := r.git().Check(ctx, "merge-base", "--is-ancestor", known.Tip.String(), tip.String())
		if ctx.Err() != nil {
			return RootCommit{}, err
		}
		goesOn = after && err == nil
	}
	commits := []string{tip.String()}
	if goesOn {
		commits = append(commits, "^"+known.Tip.String())
	}
	roots, err := r.roots(ctx, commits)
	if err == nil && goesOn {
		// The walk leaves out the known commits, and with them the root.
		var old []root
		old, err = r.roots(ctx, []string{known.Root.String()})
		roots = append(roots, old...)
	}
	if err != nil {
		return RootCommit{}, err
	}
	if len(roots) == 0 {
		return RootCommit{}, errors.New("git rev-list: no root commit")
	}
	first := roots[0]
	for _, c := range roots {
		if c.at < first.at || c.at == first.at && c.id.String() < first.id.String() {
			first = c
		}
	}
	return RootCommit{Root: first.id, Tip: tip}, nil
}

// A root is a commit without a parent.
type root struct {
	id repo.ID
	at int64
}

func (r *Repo) roots(ctx context.Context, commits []string) (list []root, err error) {
	out, err := r.git().Read(ctx, nil, append([]string{"rev-list", "--max-parents=0", "--timestamp"}, commits...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		var c root
		var name string
		if _, err := fmt.Sscan(line, &c.at, &name); err != nil {
			return nil, fmt.Errorf("git rev-list: %q is no commit", line)
		}
		if c.id, err = repo.ParseID(name); err != nil {
			return nil, fmt.Errorf("git rev-list: %w", err)
		}
		list = append(list, c)
	}
	return list, nil
}
