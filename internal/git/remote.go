package git

import (
	"context"
	"strings"

	"ken/internal/repo"
)

// OnRemote reports whether a commit is on a branch of a remote, as far as git knows here.
func (r *Repo) OnRemote(ctx context.Context, commit repo.ID) (bool, error) {
	out, err := r.read(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname)", "--contains="+commit.String(), "refs/remotes/")
	return strings.TrimSpace(out) != "", err
}
