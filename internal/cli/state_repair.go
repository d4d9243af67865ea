package cli

import (
	"ken/internal/workflow"

	"github.com/spf13/cobra"
)

func (p *program) stateRepair(f *stateFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "repair",
		Short: "Repair a workflow document that cannot be read",
		Long: `Keeps every line of the document that is a key and a value on its own, and moves the
broken copy to the archive. A document that can be read stays as it is.`,
		Example: `  ken state repair`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				r, err := s.Repair(c.Context())
				if err != nil {
					return err
				}
				for _, remark := range r.Remarks {
					p.remark(remark)
				}
				if p.io.JSON {
					return p.io.Encode(r)
				}
				if !r.Repaired {
					p.io.Printf("nothing to repair\n")
					return nil
				}
				p.io.Remarkf("ken: the document was corrupt: %s", r.Problem)
				p.io.Remarkf("ken: kept %d keys; could not read the lines %v", len(r.Kept), r.Dropped)
				if r.Archive != nil {
					p.io.Remarkf("ken: moved the broken copy to %s", *r.Archive)
				}
				return p.printDocument(r.Workflow)
			})
		},
	}
}
