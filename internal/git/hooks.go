package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ken/internal/fault"

	"ken/internal/git/command"
)

// A HooksDir is the directory of the hooks of a work tree.
type HooksDir struct {
	Path string // absolute; need not exist
	// Scope is the scope in which core.hooksPath is set: worktree, local, global or system; ""
	// if it is not set.
	Scope string
}

// HooksDir returns the directory in which git looks for hooks: core.hooksPath, relative to the root of
// the work tree, or else a directory that all worktrees share.
func (r *Repo) HooksDir(ctx context.Context) (HooksDir, error) {
	set, err := r.configured(ctx, nil, "core.hookspath", "--type=path")
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

// RebaseInProgress reports whether a rebase or a cherry-pick is in progress.
func (r *Repo) RebaseInProgress(ctx context.Context) (bool, error) {
	for _, name := range []string{"rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD"} {
		_, err := os.Lstat(filepath.Join(r.gitDir, name))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("see what git is doing: %w", err)
		}
	}
	if !r.unknownLayout {
		return false, nil
	}
	_, found, err := r.git().Probe(ctx, "rev-parse", "--quiet", "--verify", "CHERRY_PICK_HEAD")
	return found, err
}

// CommentChar returns the configured start of a comment in a commit message, "" if it is not configured.
// It includes settings of the calling git (git -c).
func (r *Repo) CommentChar(ctx context.Context) (string, error) {
	set, err := r.configured(ctx, commandSettings(os.Environ()), "core.comment(char|string)")
	if err != nil || len(set) == 0 {
		return "", err
	}
	return set[len(set)-1].value, nil
}

// commandSettings returns the environment variables that pass settings to git, such as those of git -c.
func commandSettings(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name != "GIT_CONFIG_PARAMETERS" && name != "GIT_CONFIG_COUNT" &&
			!strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
	})
}

// A scoped is a value of a setting and its scope.
type scoped struct{ scope, value string }

// configured returns the values of the matching keys; a later value takes precedence. It runs git with
// env in its environment. It leaves out the last value, which ken itself sets for every call of git.
func (r *Repo) configured(ctx context.Context, env []string, keys string, flags ...string) ([]scoped, error) {
	args := append([]string{"config", "-z", "--show-scope"}, flags...)
	args = append(args, "--get-regexp", "^"+keys+"$")
	out, err := r.git().Output(ctx, command.Call{Args: args, Env: env}) // there is at least the value that ken sets
	if err != nil {
		return nil, err
	}
	items := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(items)%2 != 0 || items[len(items)-2] != "command" {
		return nil, errors.New("git config: truncated output")
	}
	var set []scoped
	for i := 0; i < len(items)-2; i += 2 {
		_, value, _ := strings.Cut(items[i+1], "\n")
		set = append(set, scoped{items[i], value})
	}
	return set, nil
}
