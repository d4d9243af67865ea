package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// compareArgs are the options of a comparison with renames. Git gives up on inexact renames among
// more than a thousand files.
var compareArgs = []string{
	"-z", "--raw", "--no-abbrev", "-M50%", "-l1000", "-O/dev/null", "--no-relative", "--ignore-submodules=none", "--no-ext-diff", "--no-textconv",
}

// Compare lists the files that differ between two commits, with renames.
func (r *Repo) Compare(ctx context.Context, from, to repo.ID) ([]repo.FileChange, error) {
	return r.compare(ctx, slices.Concat([]string{"diff-tree", "-r"}, compareArgs, []string{from.String(), to.String(), "--"}))
}

// CompareIndex lists the files that are staged otherwise than a commit has them, with renames.
func (r *Repo) CompareIndex(ctx context.Context, from repo.ID) ([]repo.FileChange, error) {
	return r.compare(ctx, slices.Concat([]string{"diff-index", "--cached"}, compareArgs, []string{from.String(), "--"}))
}

func (r *Repo) compare(ctx context.Context, args []string) ([]repo.FileChange, error) {
	var list []repo.FileChange
	var c repo.FileChange
	head, letter := "", byte(0)
	err := r.splitLong(ctx, args, func(item string) error {
		if head == "" {
			change, err := parseRaw(item)
			fields := strings.Split(item, " ")
			status := fields[len(fields)-1]
			if err == nil && status == "" {
				err = fmt.Errorf("git %s: cannot read %q", args[0], item)
			}
			if err != nil {
				return err
			}
			head, letter = item, status[0]
			c = repo.FileChange{Change: change, Unmerged: letter == 'U'}
			return nil
		}
		if letter == 'R' && c.From == "" {
			c.From = repo.Path(item)
			return nil
		}
		c.Path, head = repo.Path(item), ""
		switch {
		case c.OldMode == 0:
			c.Kind = repo.Added
		case c.NewMode == 0:
			c.Kind = repo.Deleted
		default:
			c.Kind = repo.Modified
		}
		// Git lists an unmerged path twice: without content, and as the index has it.
		if n := len(list); n > 0 && list[n-1].Path == c.Path && list[n-1].Unmerged {
			return nil
		}
		list = append(list, c)
		return nil
	})
	if err == nil && head != "" {
		err = fmt.Errorf("git %s: truncated output", args[0])
	}
	return list, err
}

// MergeBase returns the best common ancestor of two commits; ok is false if they have none here.
func (r *Repo) MergeBase(ctx context.Context, a, b repo.ID) (base repo.ID, ok bool, err error) {
	if a == b {
		return a, true, nil
	}
	out, ok, err := r.git().Probe(ctx, "merge-base", a.String(), b.String())
	if err != nil || !ok {
		return repo.ID{}, false, err
	}
	base, err = repo.ParseID(strings.TrimSuffix(out, "\n"))
	return base, err == nil, err
}

// Shallow reports whether the history of this clone is cut off.
func (r *Repo) Shallow() (bool, error) { return r.isShallow() }

// RefNames lists branches, remote branches and tags by their short names.
func (r *Repo) RefNames(ctx context.Context) ([]string, error) {
	out, err := r.git().Read(ctx, nil, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil, err
	}
	return strings.Fields(out), nil
}

// DiffFile returns how a file of the work tree differs from an older content, as a patch; "" if it does not. It does
// not run the file's filter, which is a program that a repository may bring along: the patch then shows the bytes on
// disk, and its first line says so.
func (r *Repo) DiffFile(ctx context.Context, old repo.ID, p repo.Path) (string, error) {
	attrs, err := r.attributes(ctx, []repo.Path{p})
	if err != nil {
		return "", err
	}
	driver := attrs[0].filter
	patch, err := r.patch(ctx, withoutFilters(driver), old.String(), "--", string(p))
	if patch != "" && hasValue(driver) {
		patch = fmt.Sprintf("ken did not run the filter %q: this compares the bytes on disk\n", driver) + patch
	}
	return patch, err
}

// withoutFilters returns variables that keep git from running filter drivers.
func withoutFilters(drivers ...string) []string {
	var env []string
	for _, driver := range drivers {
		for _, setting := range []string{"clean", "process", "required"} {
			n := len(env) / 2
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=filter.%s.%s", n, driver, setting))
			env = append(env, fmt.Sprintf("GIT_CONFIG_VALUE_%d=", n))
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(env)/2))
}

// DiffBlobs returns how two contents differ, as a patch.
func (r *Repo) DiffBlobs(ctx context.Context, before, after repo.ID) (string, error) {
	return r.patch(ctx, nil, before.String(), after.String())
}

func (r *Repo) patch(ctx context.Context, env []string, what ...string) (string, error) {
	args := []string{
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=3", "--diff-algorithm=histogram", "--no-relative",
		"--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none",
	}
	out, err := r.git().Output(ctx, command.Call{Args: append(args, what...), Env: env})
	if err != nil {
		return "", fmt.Errorf("compare contents: %w", err)
	}
	return out, nil
}
