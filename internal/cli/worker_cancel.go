package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/worker"
)

func (p *program) workerCancel() *cobra.Command {
	var of scope
	c := &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; keep finished summaries", Args: cobra.ExactArgs(1),
		Example: `  ken worker cancel 7`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := runID(c, args[0])
			if err != nil {
				return err
			}
			return p.withRuns(c.Context(), func(s *worker.Runs) error {
				if err := s.CancelRun(c.Context(), of.of(s), id); err != nil {
					return err
				}
				return p.showRun(c.Context(), s, of, id)
			})
		},
	}
	of.bind(c)
	return c
}

func (p *program) workerResume() *cobra.Command {
	var f ceilingFlags
	var of scope
	c := &cobra.Command{
		Use: "resume RUN", Short: "Resume a run that reached its ceiling", Args: cobra.ExactArgs(1),
		Example: `  ken worker resume 7 --max-cost 40    # raise the ceiling to 40 dollars`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := runID(c, args[0])
			if err != nil {
				return err
			}
			ceiling, err := f.ceiling(c)
			if err != nil {
				return err
			}
			return p.withRuns(c.Context(), func(s *worker.Runs) error {
				if err := s.Resume(c.Context(), of.of(s), id, ceiling); err != nil {
					return err
				}
				return p.showRun(c.Context(), s, of, id)
			})
		},
	}
	f.bind(c, "")
	of.bind(c)
	return c
}
