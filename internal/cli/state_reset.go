package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) stateReset(f *stateFlags) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "reset",
		Short: "Archive everything that is not exempt, at the end of a workflow",
		Long: `Moves everything that the contract does not exempt, the workflow document
included, into one snapshot in the archive. What is exempt stays: the lock, the
archive, deferred work, the journal, and the forensic logs. If there is nothing to
move, no snapshot is made. The archive keeps the last snapshots (state.archive_runs
in the configuration, 5 by default; 0 deletes instead).`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				done, err := s.Keeper().Reset(c.Context(), dry)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, "ken state reset")
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would move, and move nothing")
	return c
}
