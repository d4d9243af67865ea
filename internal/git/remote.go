package git

import (
	"context"
	"slices"
	"strings"

	"ken/internal/repo"
)

// OnRemote reports whether a commit is on a branch of a remote, as far as git knows here.
func (r *Repo) OnRemote(ctx context.Context, commit repo.ID) (bool, error) {
	out, err := r.git().Read(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname)", "--contains="+commit.String(), "refs/remotes/")
	return strings.TrimSpace(out) != "", err
}

// PushedCommit returns a commit that a remote has, as far as git knows here: the given one,
// or the newest tip of a remote branch in its history. It is zero if there is none.
func (r *Repo) PushedCommit(ctx context.Context, commit repo.ID) (repo.ID, error) {
	pushed, err := r.OnRemote(ctx, commit)
	if err != nil || pushed {
		return commit, err
	}
	out, err := r.git().Read(ctx, nil, "for-each-ref", "--count=1", "--sort=-committerdate", "--format=%(objectname)", "--merged="+commit.String(), "refs/remotes/")
	if out = strings.TrimSpace(out); err != nil || out == "" {
		return repo.ID{}, err
	}
	return repo.ParseID(out)
}

// RemoteURL returns the address of the remote origin, or of the only remote. It is "" if
// there is none.
func (r *Repo) RemoteURL(ctx context.Context) (string, error) {
	out, err := r.git().Read(ctx, nil, "remote")
	if err != nil {
		return "", err
	}
	names := strings.Fields(out)
	name := "origin"
	if !slices.Contains(names, name) {
		if len(names) != 1 || !validRef("refs/remotes/"+names[0]) {
			return "", nil
		}
		name = names[0]
	}
	out, err = r.git().Read(ctx, nil, "remote", "get-url", "--", name)
	return strings.TrimSuffix(out, "\n"), err
}

// UserSetting returns a setting of the user's own git configuration. It ignores the configuration of the
// repository. It is "" if the user has not set it.
func (r *Repo) UserSetting(ctx context.Context, key string) (string, error) {
	out, _, err := r.git().Probe(ctx, "config", "--global", "--includes", "--get", key)
	return strings.TrimSuffix(out, "\n"), err
}

// FetchArgs returns the arguments of git that fetch every branch of the remote. A bare clone has no refspec, and
// would fetch only the default branch.
func (r *Repo) FetchArgs(ctx context.Context) []string {
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
