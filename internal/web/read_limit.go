package web

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// readLimit has room for a few who read a worktree at once: each may take as much memory as
// the repository has files.
type readLimit chan struct{}

const (
	maxReads = 4
	readTime = 45 * time.Second // for one, and the wait for it
)

// errBusy is for whoever waited in vain.
var errBusy = statusErr(http.StatusServiceUnavailable, "too many requests at once", "try again")

// take runs f in its turn.
func (t readLimit) take(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, errBusy)
	defer cancel()
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-t }()
	err := f(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errBusy) {
		return errBusy
	}
	return err
}

// reading opens a worktree for f, in its turn.
func (s *Server) withWorkspace(ctx context.Context, worktree string, f func(context.Context, Workspace) error) error {
	return s.reads.take(ctx, func(ctx context.Context) (err error) {
		w, err := s.deps.Open(ctx, worktree)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		return f(ctx, w)
	})
}
