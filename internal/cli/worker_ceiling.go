package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"ken/internal/surveyrun"
	"ken/internal/worker"
)

// ceilingFlags are the flags of a ceiling: numbers from 0, which allows nothing.
type ceilingFlags struct{ tokens, cost string }

// noLimit is the value that removes a limit, where a command allows that.
const noLimit = "none"

func (f *ceilingFlags) bind(c *cobra.Command, more string) {
	c.Flags().StringVar(&f.tokens, "max-tokens", "", "spend at most `N` tokens; 0 allows none"+more)
	c.Flags().StringVar(&f.cost, "max-cost", "", "spend at most `N` dollars; 0 allows none"+more)
}

// ceiling returns the ceiling of the flags. A part that was not given is nil.
func (f *ceilingFlags) ceiling(c *cobra.Command) (surveyrun.Ceiling, error) {
	return f.change(c, surveyrun.Ceiling{}, false)
}

// change returns a ceiling with the flags applied. If removable is set, the value none removes a
// limit.
func (f *ceilingFlags) change(c *cobra.Command, to surveyrun.Ceiling, removable bool) (surveyrun.Ceiling, error) {
	switch {
	case !c.Flags().Changed("max-tokens"):
	case removable && f.tokens == noLimit:
		to.Tokens = nil
	default:
		n, err := strconv.ParseInt(f.tokens, 10, 64)
		if err != nil || n < 0 {
			return to, usageError(c, fmt.Errorf("--max-tokens %s: expected a whole number from 0", f.tokens))
		}
		to.Tokens = &n
	}
	switch {
	case !c.Flags().Changed("max-cost"):
	case removable && f.cost == noLimit:
		to.Cost = nil
	default:
		n, err := strconv.ParseFloat(f.cost, 64)
		if err != nil || !(n >= 0) {
			return to, usageError(c, fmt.Errorf("--max-cost %s: expected a number of dollars from 0", f.cost))
		}
		m := surveyrun.Dollars(n)
		to.Cost = &m
	}
	return to, nil
}

func (p *program) workerCeiling() *cobra.Command {
	var f ceilingFlags
	c := &cobra.Command{
		Use: "ceiling", Short: "Show or set the spending limit of all runs per day (UTC)", Args: cobra.NoArgs,
		Long: `Show the spending of today and the limit of all runs on the server. --max-tokens and
--max-cost set the limit: 0 allows nothing, and none removes the limit. Spending never
exceeds the limit: ken makes a call only if the most that it can cost fits.`,
		Example: `  ken worker ceiling                   # show spending and limit
  ken worker ceiling --max-cost 50     # spend at most 50 dollars per day
  ken worker ceiling --max-cost none   # remove the limit`,
		RunE: func(c *cobra.Command, _ []string) error {
			changes := c.Flags().Changed("max-tokens") || c.Flags().Changed("max-cost")
			// Check the flags before the server is asked.
			if _, err := f.change(c, surveyrun.Ceiling{}, true); err != nil {
				return err
			}
			return p.withRuns(c.Context(), func(s *worker.Runs) error {
				day, err := s.Today(c.Context())
				if err != nil {
					return err
				}
				if changes {
					next, err := f.change(c, day.Ceiling, true)
					if err != nil {
						return err
					}
					if err := s.SetCeiling(c.Context(), next); err != nil {
						return err
					}
					day.Ceiling = next
				}
				return p.answer(day, func() { p.io.Printf("%s\n", dayLine(day)) })
			})
		},
	}
	f.bind(c, ", none removes the limit")
	return c
}

func dayLine(d surveyrun.Day) string {
	return fmt.Sprintf("%s: %s spent by all runs of the server, ceiling %s", d.Day, d.Spent, d.Ceiling)
}
