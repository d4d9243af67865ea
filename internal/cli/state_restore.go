package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) stateRestore(f *stateFlags) *cobra.Command {
	var opts workflow.RestoreOptions
	c := &cobra.Command{
		Use:   "restore SNAPSHOT",
		Short: "Undo a cleanup, reset, evict or init: bring a snapshot back",
		Long: `Moves the entries of a snapshot (see ken state archive ls) back to where they
were, byte for byte, dates included; the snapshot is gone then. An entry that stands in the way
is archived first. If one of those is newer than what would replace it, nothing
happens, unless --overwrite is given.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.Snapshot = args[0]
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
