package git

import (
	"context"
	"strings"
)

// Version returns the version of git.
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.git().Read(ctx, nil, "version")
	return strings.TrimSpace(strings.TrimPrefix(out, "git version ")), err
}
