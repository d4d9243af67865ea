package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/fault"
)

// A HooksDir is where git looks for the hooks of a work tree.
type HooksDir struct {
	Path string // absolute; need not exist
	// Scope says whose core.hooksPath it is, in git's word (worktree, local,
	// global, system); "" where that is not set.
	Scope string
}

// HooksDir asks git where it looks for hooks: what core.hooksPath says, from the root
// of the work tree, else a directory that all worktrees share.
func (r *Repo) HooksDir(ctx context.Context) (HooksDir, error) {
	set, err := r.configured(ctx, "core.hookspath", "--type=path")
	if err != nil {
		return HooksDir{}, err
	}
	if len(set) == 0 {
		return HooksDir{Path: filepath.Join(r.common, "hooks")}, nil
	}
	last := set[len(set)-1]
	d := HooksDir{Path: filepath.FromSlash(last.value), Scope: last.scope}
	if d.Path == "" {
		return HooksDir{}, &fault.Error{
			Hint: "take it out: git config --" + d.Scope + " --unset core.hooksPath",
			Err:  fmt.Errorf("core.hooksPath is set, and names no directory"),
		}
	}
	if !filepath.IsAbs(d.Path) {
		d.Path = filepath.Join(r.root, d.Path)
	}
	return d, nil
}

// Replaying reports whether git is making commits anew, in a rebase or a cherry-pick.
func (r *Repo) Replaying(ctx context.Context) (bool, error) {
	for _, name := range []string{"rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD"} {
		_, err := os.Lstat(filepath.Join(r.gitDir, name))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("see what git is doing: %w", err)
		}
	}
	if !r.strange {
		return false, nil
	}
	_, found, err := r.probe(ctx, "rev-parse", "--quiet", "--verify", "CHERRY_PICK_HEAD")
	return found, err
}

// CommentChar returns what begins a comment in a commit message, as it is configured;
// "" where it is not.
func (r *Repo) CommentChar(ctx context.Context) (string, error) {
	set, err := r.configured(ctx, "core.comment(char|string)")
	if err != nil || len(set) == 0 {
		return "", err
	}
	return set[len(set)-1].value, nil
}

// A scoped is a setting and whose it is.
type scoped struct{ scope, value string }

// configured asks git for the values of the keys that match, in the order in which
// they count, without those that our own calls are pinned to.
func (r *Repo) configured(ctx context.Context, keys string, flags ...string) ([]scoped, error) {
	args := append([]string{"config", "-z", "--show-scope"}, flags...)
	out, found, err := r.probe(ctx, append(args, "--get-regexp", "^"+keys+"$")...)
	if err != nil || !found {
		return nil, err
	}
	items := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(items)%2 != 0 {
		return nil, errors.New("git config: the answer breaks off")
	}
	var set []scoped
	for i := 0; i < len(items); i += 2 {
		if _, value, _ := strings.Cut(items[i+1], "\n"); items[i] != "command" {
			set = append(set, scoped{items[i], value})
		}
	}
	return set, nil
}
