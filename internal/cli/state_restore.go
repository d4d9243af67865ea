package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) stateRestore(f *stateFlags) *cobra.Command {
	var opts workflow.RestoreOptions
	c := &cobra.Command{
		Use:   "restore [SNAPSHOT [NAME…]]",
		Short: "Undo a cleanup, reset, evict or init",
		Long: `Moves the files of a snapshot back, byte for byte and with their times, and removes
the snapshot. Without SNAPSHOT it is the latest one that ken made. With names, only
these files move back, and the others stay in the snapshot. Files that are in the way
move to the archive. If one of them is newer than the file that would replace it, ken
changes nothing, unless you pass --overwrite.`,
		Example: `  ken state reset
  ken state restore   # undo the reset`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			opts.Latest = len(args) == 0
			if !opts.Latest {
				opts.Snapshot, opts.Names = args[0], args[1:]
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				done, err := s.Restore(c.Context(), opts)
				if err != nil {
					return err
				}
				return p.printSweep(f, done, "")
			})
		},
	}
	c.Flags().BoolVar(&opts.Overwrite, "overwrite", false, "replace newer files too; they move to the archive")
	return c
}
