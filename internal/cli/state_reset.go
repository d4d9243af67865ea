package cli

import (
	"ken/internal/workflow"

	"github.com/spf13/cobra"
)

func (p *program) stateReset(f *stateFlags) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "reset",
		Short: "End a workflow: archive all its files",
		Long: `Moves everything that the contract does not exempt to one snapshot in the archive,
including the workflow document. The lock, the archive, deferred work, the journal
and the logs are exempt. The archive keeps the last 5 snapshots; state.archive_runs
in the configuration sets another number, and 0 deletes the files instead.`,
		Example: `  ken state reset --dry-run
  ken state reset`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				done, err := s.Reset(c.Context(), dry)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, "ken state reset")
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "list what would move; move nothing")
	return c
}
