package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store/local"
)

// Share returns the Share of this clone. A bare clone has the policy of HEAD.
func (w *workspace) Share(ctx context.Context) (*share.Share, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	return share.New(w.git, w.store, local.OpenShareMemory[share.Memory](w.git.CommonDir()), share.Options{
		Policy: w.cfg.Share,
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

// AfterClose pushes if the policy says so. It returns a message if the push fails; the close is done
// in any case.
func (w *workspace) AfterClose(ctx context.Context) string {
	if !w.cfg.Share.PushOnClose {
		return ""
	}
	return w.pushWithin(ctx, closePatience)
}

// pushWithin pushes within a time limit, and returns one line if the push fails.
func (w *workspace) pushWithin(ctx context.Context, limit time.Duration) string {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := w.Share(bounded)
	var out *share.Pushed
	if err == nil {
		out, err = s.Push(bounded, share.PushOptions{Unasked: true})
	}
	switch {
	case err == nil && out.Why != "" && out.Records > 0:
		return fmt.Sprintf("shared, but other clones ignore the records of %s: %s (see share in .ken/config.yaml)", out.Committer, out.Why)
	case err == nil:
		return ""
	case ctx.Err() == nil && bounded.Err() != nil:
		return fmt.Sprintf("not shared: the remote did not answer within %s (to wait for it: ken share push)", limit)
	}
	said := "not shared: " + strings.TrimSpace(err.Error())
	if hint := fault.HintOf(err); hint != "" {
		said += " (" + hint + ")"
	}
	return said
}
