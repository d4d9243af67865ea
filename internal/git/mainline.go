package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Mainline returns the short name and the commit of the main branch. That is the given branch, or the
// default branch of origin, or the branch of the main work tree. A local branch takes precedence over the
// remote branch of the same name. The commit is zero if the branch has none yet.
func (r *Repo) Mainline(ctx context.Context, given string) (name string, commit repo.ID, err error) {
	if given != "" {
		name, id, ok, err := r.branch(ctx, given)
		if err == nil && !ok {
			err = &fault.Error{
				Hint: "see the branches with: git branch --all",
				Err:  fmt.Errorf("there is no branch %q", given),
			}
		}
		return name, id, err
	}
	const originHead = "refs/remotes/origin/HEAD"
	target, symbolic, err := r.symref(ctx, originHead)
	if err != nil {
		return "", repo.ID{}, err
	}
	if branch, ok := strings.CutPrefix(target, "refs/remotes/origin/"); symbolic && ok {
		name, id, found, err := r.branch(ctx, branch)
		if err != nil || found {
			return name, id, err
		}
	}
	return r.mainCheckout(ctx)
}

// branch finds a local branch, or else a branch of origin.
func (r *Repo) branch(ctx context.Context, short string) (name string, id repo.ID, ok bool, err error) {
	short = strings.TrimPrefix(short, "refs/heads/")
	for _, ref := range []string{"refs/heads/" + short, "refs/remotes/origin/" + short, "refs/remotes/" + short} {
		id, ok, err = r.ResolveRef(ctx, ref)
		if err != nil || ok {
			return short, id, ok, err
		}
	}
	return short, repo.ID{}, false, nil
}

// symref returns the target of a symbolic ref; ok is false if the ref is not symbolic.
func (r *Repo) symref(ctx context.Context, name string) (target string, ok bool, err error) {
	if !r.unknownLayout {
		text, err := r.loose(name)
		if err == nil {
			target, ok = strings.CutPrefix(text, "ref:")
			return strings.Trim(target, " \t\r\n"), ok, nil
		}
		if errors.Is(err, errNoRef) {
			return "", false, nil // packed refs are not symbolic
		}
	}
	out, ok, err := r.git().Probe(ctx, "symbolic-ref", "--quiet", name)
	return strings.TrimSuffix(out, "\n"), ok, err
}

// mainCheckout returns the branch of the main work tree, or of the bare repository.
func (r *Repo) mainCheckout(ctx context.Context) (string, repo.ID, error) {
	main := r
	if r.gitDir != r.common {
		main = r.sibling(r.root, r.common)
	}
	head, err := main.Head(ctx)
	if err != nil {
		return "", repo.ID{}, fmt.Errorf("find the main branch: %w", err)
	}
	return strings.TrimPrefix(head.Branch, "refs/heads/"), head.Commit, nil
}
