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

// Fetching are the arguments of git that fetch every branch of the remote. A bare clone has no refspec, and
// would fetch only the default branch.
func (r *Repo) Fetching(ctx context.Context) []string {
	cfg, err := r.repoConfig(ctx)
	if err != nil || len(cfg.All("remote.origin.fetch")) > 0 || len(cfg.All("remote.origin.url")) == 0 {
		return []string{"fetch"}
	}
	to := "refs/remotes/origin/*"
	if bare, _ := cfg.Bool("core.bare"); bare {
		to = "refs/heads/*"
	}
	return []string{"fetch", "origin", "+refs/heads/*:" + to}
}
