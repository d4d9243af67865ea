package git

import (
	"context"
	"strings"
)

// Version is what git calls its version.
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.read(ctx, nil, "version")
	return strings.TrimSpace(strings.TrimPrefix(out, "git version ")), err
}
