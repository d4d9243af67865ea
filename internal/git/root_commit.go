package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// RootCommit returns the commit that HEAD's history begins with: of several the oldest, of
// several of one time the one with the smallest id. In a shallow clone nobody knows, and that
// is an error, as is a repository without a commit.
func (r *Repo) RootCommit(ctx context.Context) (repo.ID, error) {
	shallow, err := r.optionalFile("shallow")
	if err != nil {
		return repo.ID{}, err
	}
	if shallow != "" {
		return repo.ID{}, &fault.Error{
			Hint: "git fetch --unshallow, or name the repository in .ken/config.yaml: team: {repository: NAME}",
			Err:  errors.New("root commit: this clone is shallow, and does not know it"),
		}
	}
	head, err := r.Head(ctx)
	if err != nil {
		return repo.ID{}, err
	}
	if head.Commit.IsZero() {
		return repo.ID{}, &fault.Error{
			Hint: "commit something, or name the repository in .ken/config.yaml: team: {repository: NAME}",
			Err:  errors.New("root commit: there is no commit yet"),
		}
	}
	out, err := r.read(ctx, nil, "rev-list", "--max-parents=0", "--timestamp", head.Commit.String())
	if err != nil {
		return repo.ID{}, err
	}
	var root repo.ID
	var oldest int64
	for line := range strings.Lines(out) {
		var at int64
		var name string
		if _, err := fmt.Sscan(line, &at, &name); err != nil {
			return repo.ID{}, fmt.Errorf("git rev-list: %q is no commit", line)
		}
		id, err := repo.ParseID(name)
		if err != nil {
			return repo.ID{}, fmt.Errorf("git rev-list: %w", err)
		}
		if root.IsZero() || at < oldest || at == oldest && id.String() < root.String() {
			root, oldest = id, at
		}
	}
	if root.IsZero() {
		return repo.ID{}, errors.New("git rev-list: a history without a beginning")
	}
	return root, nil
}
