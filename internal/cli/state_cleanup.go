package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

// maxDays keeps a number of days within what a calendar can count.
const maxDays = 1_000_000

func (p *program) stateCleanup(f *stateFlags) *cobra.Command {
	var opts workflow.CleanupOptions
	var stale, adHoc, adHocCutoff, patternCutoff string
	c := &cobra.Command{
		Use:   "cleanup [--apply]",
		Short: "Archive what the contract does not allow and what has gone stale",
		Long: `Moves into the archive: everything ad_hoc, everything ephemeral, and files that
only a pattern allows once they are older than --stale-days. Canonical files stay,
whatever their age, and so does what cannot be inspected. Without --apply nothing
moves: the answer says what would. A file exactly as old as a cutoff stays.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if opts.StaleDays, err = days(c, "stale-days", stale); err != nil {
				return err
			}
			if opts.AdHocStaleDays, err = days(c, "ad-hoc-stale-days", adHoc); err != nil {
				return err
			}
			if opts.AdHocCutoff, err = cutoff(c, "ad-hoc-cutoff", adHocCutoff); err != nil {
				return err
			}
			if opts.PatternCutoff, err = cutoff(c, "pattern-cutoff", patternCutoff); err != nil {
				return err
			}
			return p.inState(c, f, func(s StateSpace) error {
				done, err := s.Keeper().Cleanup(c.Context(), opts)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, again(c, " --apply"))
			})
		},
	}
	c.Flags().BoolVar(&opts.Apply, "apply", false, "move, instead of saying what would move")
	c.Flags().StringVar(&stale, "stale-days", "", "pattern_allowed files go when older than `N` days (default: the contract's 21)")
	c.Flags().StringVar(&adHoc, "ad-hoc-stale-days", "", "ad_hoc entries go when older than `N` days (default: whatever their age)")
	c.Flags().StringVar(&adHocCutoff, "ad-hoc-cutoff", "", "ad_hoc entries go when older than `TIME` (RFC 3339); beats days")
	c.Flags().StringVar(&patternCutoff, "pattern-cutoff", "", "pattern_allowed files go when older than `TIME` (RFC 3339); beats days")
	return c
}

// days reads a number of days; nil when the flag is not given. What is no number
// is refused: a sweep by a default that nobody chose would be a surprise.
func days(c *cobra.Command, flag, text string) (*int, error) {
	if !c.Flags().Changed(flag) {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxDays || text[0] == '+' {
		return nil, usage(c, fmt.Errorf("--%s %q is not a whole number of days from 0 to %d", flag, text, maxDays))
	}
	return &n, nil
}

func cutoff(c *cobra.Command, flag, text string) (time.Time, error) {
	if !c.Flags().Changed(flag) {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.IsZero() {
		return t, usage(c, fmt.Errorf("--%s %q is no RFC 3339 time such as 2026-01-02T15:04:05Z", flag, text))
	}
	return t, nil
}
