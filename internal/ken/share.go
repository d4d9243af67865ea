package ken

import (
	"context"
	"math/rand/v2"
	"time"

	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store/local"
)

// Share returns the Share of this clone. A bare clone has the policy of HEAD.
func (w *Repository) Share(ctx context.Context) (*share.Share, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	return share.New(w.Git, w.Store, local.OpenShareFile(w.Git.CommonDir()), share.Options{
		Policy: w.Config.Share,
		Wait:   waitForOthers,
	}), nil
}

// waitForOthers waits before the next attempt, for a random and growing time, so that clones that
// push at once do not collide again.
func waitForOthers(ctx context.Context, tries int) error {
	most := min(20*time.Millisecond<<min(tries, 6), time.Second)
	select {
	case <-ctx.Done():
		return &fault.Error{Kind: fault.Interrupted, Err: ctx.Err()}
	case <-time.After(rand.N(most)):
		return nil
	}
}

// closePatience limits how long ken close waits for a remote. Agents close after each commit, and
// the next push sends what this one did not. A working remote takes a second or two.
const closePatience = 10 * time.Second

// PushAfterClose pushes if the policy says so. It returns a message if the push fails; the close is done
// in any case.
func (w *Repository) PushAfterClose(ctx context.Context) string {
	if !w.Config.Share.PushOnClose {
		return ""
	}
	s, err := w.Share(ctx)
	if err != nil {
		return share.NotShared(err)
	}
	return s.PushWithin(ctx, closePatience)
}
