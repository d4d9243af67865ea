package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) stateUpdate(f *stateFlags) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "update KEY=VALUE…",
		Short: "Set keys of the workflow document",
		Long: `Sets keys of the workflow document in one atomic write and prints the document. true,
false, null and plain integers have their type; everything else is text. Keys that
the contract knows must have its type and values; other keys are free.

The first active=true gives the workflow an id. Another workflow_type of an active
workflow gives it the next id.`,
		Example: `  ken state update phase=implement iteration=2`,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := pairs(c, args)
			if err != nil {
				return err
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				d, err := s.Update(c.Context(), workflow.UpdateOptions{Pairs: set, Force: force})
				if err != nil {
					return err
				}
				for _, warning := range s.Warnings(set) {
					p.remark(warning)
				}
				return p.printDocument(d)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "write values that the contract does not allow, and mark the document")
	return c
}
