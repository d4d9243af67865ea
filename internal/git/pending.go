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

	"ken/internal/git/command"
	"ken/internal/repo"
)

// Pending returns the changes of the next commit on top of head: the difference to the index. In a hook it
// uses the index that git passes to the hook. That is a temporary one for git commit -a and git commit -- PATH.
func (r *Repo) Pending(ctx context.Context, head repo.ID) (repo.PendingCommit, error) {
	var p repo.PendingCommit
	switch _, err := os.Lstat(filepath.Join(r.gitDir, "MERGE_HEAD")); {
	case err == nil:
		p.Merge = true
	case !errors.Is(err, fs.ErrNotExist):
		return p, fmt.Errorf("find out whether this is a merge: %w", err)
	}
	staged, err := r.stagedSince(ctx, head, r.hookIndex())
	if err != nil {
		return p, err
	}
	for _, s := range staged {
		p.Changes = append(p.Changes, repo.PendingChange{Path: s.Path, ID: s.New, Mode: s.NewMode, Unmerged: s.unmerged})
	}
	return p, nil
}

// hookIndex returns the environment variable with the index that a hook's commit uses. It returns none if
// the variable is for another repository.
func (r *Repo) hookIndex() []string {
	const name = "GIT_INDEX_FILE"
	file := os.Getenv(name)
	if file == "" {
		return nil
	}
	if dir := os.Getenv("GIT_DIR"); dir != "" && !sameFile(dir, r.gitDir) {
		return nil
	}
	// In an ordinary work tree git does not set GIT_DIR. Then the index has an absolute path, or a path
	// relative to the root, where hooks run.
	abs, err := filepath.Abs(file)
	if dir := filepath.Dir(abs); err != nil || IsGitDir(dir) && !sameFile(dir, r.gitDir) {
		return nil
	}
	return []string{name + "=" + abs}
}

// A stagedChange is a difference between the index and a commit.
type stagedChange struct {
	repo.Change
	unmerged bool
}

// stagedSince lists the differences between the index and a commit, in git's order.
func (r *Repo) stagedSince(ctx context.Context, commit repo.ID, env []string) ([]stagedChange, error) {
	args := []string{
		"diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-relative",
		"--ignore-submodules=none", "--no-ext-diff", "--no-textconv", commit.String(), "--",
	}
	out, err := r.git().Output(ctx, command.Call{Args: args, Env: env})
	if err != nil {
		return nil, fmt.Errorf("list what is staged since %s: %w", commit.Short(), err)
	}
	items, err := parsePaths("diff-index", out)
	if err != nil {
		return nil, err
	}
	if len(items)%2 != 0 {
		return nil, errors.New("git diff-index: truncated output")
	}
	var list []stagedChange
	for pair := range slices.Chunk(items, 2) {
		c, err := parseRaw(string(pair[0]))
		if err != nil {
			return nil, fmt.Errorf("list what is staged since %s: %w", commit.Short(), err)
		}
		c.Path = pair[1]
		list = append(list, stagedChange{c, strings.HasSuffix(string(pair[0]), " U")})
	}
	return list, nil
}

// Resolve returns the commit that a revision names; ok is false if it names none.
func (r *Repo) Resolve(ctx context.Context, rev string) (commit repo.ID, ok bool, err error) {
	if strings.ContainsAny(rev, "\x00\n") {
		return repo.ID{}, false, nil
	}
	return r.resolveByGit(ctx, rev+"^{commit}")
}
