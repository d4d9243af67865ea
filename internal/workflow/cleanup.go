package workflow

import (
	"context"
	"time"

	"ken/internal/contract"
	"ken/internal/state"
)

// CleanupOptions says what is old enough to go. Cutoff times beat days; what is as
// old as its cutoff stays.
type CleanupOptions struct {
	Apply bool // move; else only say what would move
	// StaleDays is the age from which a file that only a pattern allows goes;
	// the contract's number when nil.
	StaleDays     *int
	PatternCutoff time.Time // beats StaleDays unless zero
	// AdHocStaleDays is the same for what nothing allows, which goes whatever
	// its age when nil.
	AdHocStaleDays *int
	AdHocCutoff    time.Time // beats AdHocStaleDays unless zero
}

// Cleanup moves what nothing allows, leftovers, and stale variants into the
// archive. Canonical files stay, and so does what cannot be inspected.
func (k *Keeper) Cleanup(ctx context.Context, opts CleanupOptions) (*Sweep, error) {
	return k.sweep(ctx, "cleanup", !opts.Apply, func() ([]state.Move, error) {
		entries, err := k.dir.Entries(ctx)
		return planCleanup(k.c, entries, k.opts.Now(), opts), err
	})
}

func planCleanup(c *contract.Contract, entries []state.Entry, now time.Time, opts CleanupOptions) []state.Move {
	days := c.StaleDays
	if opts.StaleDays != nil {
		days = *opts.StaleDays
	}
	pattern := newAge(now, &days, opts.PatternCutoff)
	adHoc := newAge(now, opts.AdHocStaleDays, opts.AdHocCutoff)
	var moves []state.Move
	for _, e := range entries {
		if machinery(c, e.Name) {
			continue
		}
		reason := ""
		switch classify(c, e) {
		case contract.Ephemeral:
			reason = "ephemeral"
		case contract.AdHoc:
			reason = adHoc.reason(e, "ad_hoc")
		case contract.PatternAllowed:
			reason = pattern.reason(e, "stale_pattern_allowed")
		default:
		}
		if reason != "" {
			moves = append(moves, newMove(c, e, reason))
		}
	}
	return moves
}

// An age is a limit that entries may not be older than. The zero value lets
// nothing stay.
type age struct {
	cutoff time.Time
	why    string
}

func newAge(now time.Time, days *int, cutoff time.Time) age {
	switch {
	case !cutoff.IsZero():
		return age{cutoff, "older than " + cutoff.UTC().Format(time.RFC3339Nano)}
	case days != nil:
		return age{now.AddDate(0, 0, -*days), "older than " + counted(*days, "day")}
	default:
		return age{}
	}
}

// reason says why an entry has to go, "" if it may stay.
func (a age) reason(e state.Entry, word string) string {
	switch {
	case a.why == "":
		return word
	case e.ModTime.Before(a.cutoff):
		return word + ": " + a.why
	default:
		return ""
	}
}
