package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/surveyrun"
)

// ceilingFlags are the flags of a ceiling.
type ceilingFlags struct {
	tokens int64
	cost   float64
}

func (f *ceilingFlags) bind(c *cobra.Command) {
	c.Flags().Int64Var(&f.tokens, "max-tokens", 0, "spend at most `N` tokens; 0 means no limit")
	c.Flags().Float64Var(&f.cost, "max-cost", 0, "spend at most `N` dollars; 0 means no limit")
}

// ceiling returns the ceiling of the flags; 0 is none.
func (f *ceilingFlags) ceiling(c *cobra.Command) (surveyrun.Ceiling, error) {
	if f.tokens < 0 || !(f.cost >= 0) {
		return surveyrun.Ceiling{}, usage(c, errors.New("set --max-tokens and --max-cost to 0 or more"))
	}
	var out surveyrun.Ceiling
	if f.tokens > 0 {
		out.Tokens = &f.tokens
	}
	if f.cost > 0 {
		m := surveyrun.Dollars(f.cost)
		out.Cost = &m
	}
	return out, nil
}

func (p *program) workerCeiling() *cobra.Command {
	var f ceilingFlags
	c := &cobra.Command{
		Use: "ceiling", Short: "Show or set the spending limit of all runs per day (UTC)", Args: cobra.NoArgs,
		Long: `Show the spending of today and the limit of all runs on the server. --max-tokens and
--max-cost set the limit; 0 removes it. Spending never exceeds the limit: ken makes a call
only if the most that it can cost fits.`,
		Example: `  ken worker ceiling                   # show spending and limit
  ken worker ceiling --max-cost 50     # spend at most 50 dollars per day`,
		RunE: func(c *cobra.Command, _ []string) error {
			given, err := f.ceiling(c)
			if err != nil {
				return err
			}
			return p.withRuns(c.Context(), func(s RunSpace) error {
				day, err := s.Today(c.Context())
				if err != nil {
					return err
				}
				if c.Flags().Changed("max-tokens") || c.Flags().Changed("max-cost") {
					next := day.Ceiling
					if c.Flags().Changed("max-tokens") {
						next.Tokens = given.Tokens
					}
					if c.Flags().Changed("max-cost") {
						next.Cost = given.Cost
					}
					if err := s.SetCeiling(c.Context(), next); err != nil {
						return err
					}
					day.Ceiling = next
				}
				if p.io.JSON {
					return p.io.Encode(day)
				}
				p.io.Printf("%s\n", dayLine(day))
				return nil
			})
		},
	}
	f.bind(c)
	return c
}

func dayLine(d surveyrun.Day) string {
	return fmt.Sprintf("%s: %s spent by all runs of the server, ceiling %s", d.Day, d.Spent, d.Ceiling)
}
