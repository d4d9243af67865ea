package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) stateEvict(f *stateFlags) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "evict",
		Short: "Archive what an earlier workflow left for gates and reviews to trip over",
		Long: `Moves into the archive: the markers of the contract's allowlist, whoever wrote
them; and workflow-scoped files (reviews, summaries, verifications) and their slug
variants that the session at hand did not write. Who wrote a file is what the journal
says; where it is silent, a file older than the session's start is not the session's.
Without a start, workflow-scoped files stay. Plans, specs, decisions and the
scratchpad always stay.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				done, err := s.Keeper().Evict(c.Context(), dry)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, "ken state evict")
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would move, and move nothing")
	return c
}
