package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

// maxDays keeps the cutoff within the years that time.Time can format.
const maxDays = 1_000_000

func (p *program) stateCleanup(f *stateFlags) *cobra.Command {
	var opts workflow.CleanupOptions
	var stale, adHoc, adHocCutoff, patternCutoff string
	c := &cobra.Command{
		Use:   "cleanup [--apply]",
		Short: "Archive files that the contract does not allow, and old ones",
		Long: `Moves to the archive: every ad_hoc and ephemeral entry, and pattern_allowed files
older than --stale-days. Canonical files stay, whatever their age. So do entries
that ken cannot inspect, and files exactly as old as the cutoff.

Without --apply the command only lists what it would move.`,
		Example: `  ken state cleanup                        # list what would move
  ken state cleanup --stale-days 7 --apply`,
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
			return p.inState(c, f, func(s *workflow.Manager) error {
				done, err := s.Cleanup(c.Context(), opts)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, commandWith(c, " --apply"))
			})
		},
	}
	c.Flags().BoolVar(&opts.Apply, "apply", false, "move the files")
	c.Flags().StringVar(&stale, "stale-days", "", "move pattern_allowed files older than `N` days (default: stale_days of the contract, 21)")
	c.Flags().StringVar(&adHoc, "ad-hoc-stale-days", "", "move only ad_hoc entries older than `N` days (default: all)")
	c.Flags().StringVar(&adHocCutoff, "ad-hoc-cutoff", "", "move only ad_hoc entries older than `TIME` (RFC 3339); overrides the days")
	c.Flags().StringVar(&patternCutoff, "pattern-cutoff", "", "move pattern_allowed files older than `TIME` (RFC 3339); overrides the days")
	return c
}

// days parses a number of days; nil if the flag is not given. Anything else is an
// error: a default would move files that the user did not mean.
func days(c *cobra.Command, flag, text string) (*int, error) {
	if !c.Flags().Changed(flag) {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxDays || text[0] == '+' {
		return nil, usageError(c, fmt.Errorf("--%s %q is not a whole number of days from 0 to %d", flag, text, maxDays))
	}
	return &n, nil
}

func cutoff(c *cobra.Command, flag, text string) (time.Time, error) {
	if !c.Flags().Changed(flag) {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.IsZero() {
		return t, usageError(c, fmt.Errorf("--%s %q is not an RFC 3339 time such as 2026-01-02T15:04:05Z", flag, text))
	}
	return t, nil
}
