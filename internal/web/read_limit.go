package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ken/internal/ken"
)

// readLimit bounds the number of simultaneous readers of worktrees. A reader may need
// memory in proportion to the number of files.
type readLimit chan struct{}

const (
	maxReads = 4
	readTime = 45 * time.Second // longest time to wait and read
)

// errBusy is the answer after readTime.
var errBusy = statusErr(http.StatusServiceUnavailable, "too many requests at once", "try again")

// take runs f when there is room.
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

// withRepository opens a worktree and runs f, within the read limit.
func (s *Server) withRepository(ctx context.Context, worktree string, f func(context.Context, *ken.Repository) error) error {
	return s.reads.take(ctx, func(ctx context.Context) error {
		w, err := s.deps.Open(ctx, worktree)
		if err != nil {
			return err
		}
		defer w.Close() // its errors do not matter, since writes are complete
		return f(ctx, w)
	})
}

// inBackground opens a worktree and runs f for as long as the server runs. It is for work that outlives its
// request, such as building the search index. The caller limits how often it runs at once.
func (s *Server) inBackground(worktree string, f func(context.Context, *ken.Repository) error) error {
	w, err := s.deps.Open(s.boards.ctx, worktree)
	if err != nil {
		return err
	}
	defer w.Close()
	return f(s.boards.ctx, w)
}
