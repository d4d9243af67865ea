package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/repo"
)

// CommitEmpty makes an empty commit on top of HEAD and moves HEAD's branch to it. It does not change the index or the
// work tree, and runs no hook. If HEAD is no longer at parent, it returns an error and changes nothing.
func (r *Repo) CommitEmpty(ctx context.Context, parent repo.ID, message string) (repo.ID, error) {
	tree, ok, err := r.Tree(ctx, parent)
	if err == nil && !ok {
		err = fmt.Errorf("commit %s is not here", parent.Short())
	}
	if err != nil {
		return repo.ID{}, fmt.Errorf("commit: %w", err)
	}
	id, err := r.commitTree(ctx, tree, parent, message)
	if err != nil {
		return repo.ID{}, err
	}
	subject, _, _ := strings.Cut(message, "\n")
	_, err = r.git().Read(ctx, nil, "update-ref", "-m", "commit: "+subject, "HEAD", id.String(), parent.String())
	if err == nil {
		return id, nil
	}
	if now, headErr := r.Head(ctx); headErr == nil && now.Commit != parent {
		err = &fault.Error{Hint: "run it again", Err: &repo.MovedError{Seen: parent, Now: now.Commit}}
	}
	return repo.ID{}, err
}

func (r *Repo) commitTree(ctx context.Context, tree, parent repo.ID, message string) (repo.ID, error) {
	// Environment variables may set the author and committer. Other calls do not pass them to git.
	var who []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "GIT_AUTHOR_") || strings.HasPrefix(kv, "GIT_COMMITTER_") {
			who = append(who, kv)
		}
	}
	args := []string{"commit-tree", tree.String(), "-p", parent.String()}
	out, status, stderr, err := r.git().Collect(ctx, command.Call{Args: args, Stdin: strings.NewReader(message), Env: who})
	switch {
	case err != nil:
		return repo.ID{}, err
	case status != 0 && strings.Contains(stderr, "tell me who you are"):
		return repo.ID{}, &fault.Error{
			Hint: `git config user.name "Your Name" && git config user.email you@example.org`,
			Err:  errors.New("commit: git does not know who you are"),
		}
	case status != 0:
		return repo.ID{}, r.git().Failed(args, status, stderr)
	}
	return repo.ParseID(strings.TrimSpace(out))
}
