package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) statePut(f *stateFlags) *cobra.Command {
	var text string
	var force bool
	c := &cobra.Command{
		Use:   "put NAME [-m TEXT]",
		Short: "Write a file of the workflow",
		Long: `Writes a file in one atomic write, from standard input or -m. ken refuses a name that
the contract does not allow and suggests the nearest allowed one. It also refuses
content without the status or the fields that the contract requires, unless you pass
--force. The journal records which workflow wrote the file.`,
		Example: `  ken state put plan.md -m "1. parse"
  ken state put review.json -m '{"status": "DONE", "verdict": "APPROVED"}'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			content, err := p.messageOrInput(c, text)
			if err != nil {
				return err
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				w, err := s.Put(c.Context(), args[0], content, force)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(w)
				}
				why := term.Bytes(int64(w.Size))
				if w.WorkflowID != "" {
					why += ", workflow " + w.WorkflowID
				}
				p.io.Line(term.Good, "written", w.Name, why)
				for _, problem := range w.Problems {
					p.io.Line(term.Warn, "problem", problem.File, problem.Problem+", expected "+problem.Expected)
				}
				return nil
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the content as `TEXT` (default: standard input)")
	c.Flags().BoolVar(&force, "force", false, "write content that the contract does not allow")
	return c
}

// messageOrInput returns the content of -m, or of standard input.
func (p *program) messageOrInput(c *cobra.Command, text string) ([]byte, error) {
	if c.Flags().Changed("message") {
		return []byte(text), nil
	}
	return readInput(p.io.In, "-")
}
