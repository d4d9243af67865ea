package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) doctor() *cobra.Command {
	f := &stateFlags{}
	var check bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what wants attention, and how to mend it; write nothing",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				found, err := s.Keeper().Findings(c.Context())
				if err != nil {
					return err
				}
				if err := p.printFindings(found); err != nil {
					return err
				}
				if check && len(found) > 0 {
					return errWanting
				}
				return nil
			})
		},
	}
	f.bind(c.Flags())
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is a finding")
	return c
}

func (p *program) printFindings(found []workflow.Finding) error {
	if p.io.JSON {
		return p.io.Encode(struct {
			Findings []workflow.Finding `json:"findings"`
		}{append([]workflow.Finding{}, found...)})
	}
	for _, f := range found {
		p.io.Line(term.Warn, f.Code, f.What, "")
		if f.Mend != "" {
			p.io.Remarkf("hint: %s", term.Clean(f.Mend))
		}
	}
	if len(found) == 0 {
		p.io.Printf("nothing wants attention\n")
	}
	return nil
}
