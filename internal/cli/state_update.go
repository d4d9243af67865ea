package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) stateUpdate(f *stateFlags) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "update KEY=VALUE…",
		Short: "Merge keys into the workflow document",
		Long: `Merges keys into the workflow document in one atomic write, and prints it. true,
false, null and plain integers are typed; everything else is text, kept as given.
Known keys must have the type and the values that the contract says; unknown keys
are free. The first active=true gives the workflow its identity; another
workflow_type while it is active gives it the next id, and the anchors stay.
Nothing is moved.`,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := pairs(c, args)
			if err != nil {
				return err
			}
			return p.inState(c, f, func(s StateSpace) error {
				d, err := s.Keeper().Update(c.Context(), workflow.UpdateOptions{Pairs: set, Force: force})
				if err != nil {
					return err
				}
				return p.printDocument(d)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "write values that the contract does not allow, and mark the document as warned")
	return c
}
