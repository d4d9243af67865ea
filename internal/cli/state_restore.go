package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) stateRestore(f *stateFlags) *cobra.Command {
	var opts workflow.RestoreOptions
	c := &cobra.Command{
		Use:   "restore [SNAPSHOT]",
		Short: "Undo a cleanup, reset, evict or init: bring a snapshot back",
		Long: `Moves the entries of a snapshot back to where they were, byte for byte, dates
included; the snapshot is gone then. Without SNAPSHOT it is the latest that ken made,
which undoes the last sweep; see ken state archive ls for the others. An entry that
stands in the way is archived first. If one of those is newer than what would replace
it, nothing happens, unless --overwrite is given.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if opts.Latest = len(args) == 0; !opts.Latest {
				opts.Snapshot = args[0]
			}
			return p.inState(c, f, func(s StateSpace) error {
				done, err := s.Keeper().Restore(c.Context(), opts)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, "")
			})
		},
	}
	c.Flags().BoolVar(&opts.Overwrite, "overwrite", false, "replace what is newer too; it goes to the archive")
	return c
}
