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
func (r *Repository) Share(ctx context.Context) (*share.Share, error) {
	if err := r.configOfHead(ctx); err != nil {
		return nil, err
	}
	return share.New(r.Git, r.Store, local.OpenShareFile(r.Git.CommonDir()), share.Options{
		Policy: r.Config.Share,
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

// closePatience limits how long ken summary close waits for a remote. Agents close after each commit, and
// the next push sends what this one did not. A working remote takes a second or two.
const closePatience = 10 * time.Second

// PushAfterClose pushes if the policy says so. It returns a message if the push fails; the close is done
// in any case.
func (r *Repository) PushAfterClose(ctx context.Context) string {
	if !r.Config.Share.PushOnClose {
		return ""
	}
	s, err := r.Share(ctx)
	if err != nil {
		return share.NotShared(err)
	}
	return s.PushWithin(ctx, closePatience)
}
