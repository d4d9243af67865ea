package workflow

import (
	"context"
	"time"

	"ken/internal/contract"
	"ken/internal/english"
	"ken/internal/state"
)

// CleanupOptions sets the age from which files are moved. A cutoff time overrides days.
// A file exactly as old as the cutoff stays.
type CleanupOptions struct {
	Apply bool // move; otherwise only list
	// Only names the single entry that may move; "" for all.
	Only string
	// StaleDays is the age in days from which pattern_allowed files move; nil for the
	// number of the contract.
	StaleDays     *int
	PatternCutoff time.Time // overrides StaleDays unless zero
	// AdHocStaleDays is the same for ad_hoc entries; nil moves all of them.
	AdHocStaleDays *int
	AdHocCutoff    time.Time // overrides AdHocStaleDays unless zero
}

// Cleanup moves ad_hoc and ephemeral entries and stale pattern_allowed files to the
// archive. Canonical files stay, and so do entries that could not be inspected.
func (m *Manager) Cleanup(ctx context.Context, opts CleanupOptions) (*Sweep, error) {
	return m.sweep(ctx, "cleanup", !opts.Apply, func() ([]state.Move, error) {
		entries, err := m.dir.Entries(ctx)
		return planCleanup(m.c, entries, m.opts.Now(), opts), err
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
		if isOwn(c, e.Name) || opts.Only != "" && e.Name != opts.Only {
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

// An age is the limit from which entries move. With the zero value all of them do.
type age struct {
	cutoff time.Time
	why    string
}

func newAge(now time.Time, days *int, cutoff time.Time) age {
	switch {
	case !cutoff.IsZero():
		return age{cutoff, "older than " + cutoff.UTC().Format(time.RFC3339Nano)}
	case days != nil:
		return age{now.AddDate(0, 0, -*days), "older than " + english.Count(*days, "day")}
	default:
		return age{}
	}
}

// reason returns why an entry moves, "" if it stays.
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
