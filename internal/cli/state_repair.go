package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) stateRepair(f *stateFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "repair",
		Short: "Make a corrupt workflow document readable again",
		Long: `Keeps every line of a corrupt workflow document that is a key and a value by
itself, and moves the bad copy into the archive. A document that can be read stays
as it is.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				r, err := s.Keeper().Repair(c.Context())
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
				p.io.Remarkf("ken: it was corrupt: %s", r.Problem)
				p.io.Remarkf("ken: kept %d keys; lines that could not be read: %v", len(r.Kept), r.Dropped)
				if r.Archive != nil {
					p.io.Remarkf("ken: the bad copy is in %s", *r.Archive)
				}
				return p.printDocument(r.Workflow)
			})
		},
	}
}
