package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/surveyrun"
)

// ceilingFlags are what may be spent.
type ceilingFlags struct {
	tokens int64
	cost   float64
}

func (f *ceilingFlags) bind(c *cobra.Command) {
	c.Flags().Int64Var(&f.tokens, "max-tokens", 0, "never spend more than so many tokens; 0 is no limit")
	c.Flags().Float64Var(&f.cost, "max-cost", 0, "never spend more than so many dollars; 0 is no limit")
}

// ceiling is what was given of them, none for 0.
func (f *ceilingFlags) ceiling(c *cobra.Command) (surveyrun.Ceiling, error) {
	if f.tokens < 0 || !(f.cost >= 0) {
		return surveyrun.Ceiling{}, usage(c, errors.New("a limit is no less than 0"))
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
		Use: "ceiling", Short: "Show or set what all runs of the server together may spend on a day (UTC)", Args: cobra.NoArgs,
		Long: `Shows what all runs of the server have spent today, and may. With a limit, that is set;
0 takes one away. It is never exceeded: a call is not made unless the most that it can
cost fits under it.`,
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
	return fmt.Sprintf("%s: %s spent on the whole server, ceiling %s", d.Day, d.Spent, d.Ceiling)
}
