package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/term"
)

func (p *program) statePut(f *stateFlags) *cobra.Command {
	var text string
	var force bool
	c := &cobra.Command{
		Use:   "put NAME [-m TEXT]",
		Short: "Write an artifact through the contract",
		Long: `Writes an artifact, from standard input or -m, in one atomic write. A name that
the contract does not allow is refused, with the nearest legal one; so is a content
that lacks the status or the fields the contract asks for, unless --force is given.
The workflow at hand is recorded as its author, so that a later one can tell.
Nothing is moved.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			content, err := p.given(c, text)
			if err != nil {
				return err
			}
			return p.inState(c, f, func(s StateSpace) error {
				w, err := s.Keeper().Put(c.Context(), args[0], content, force)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(w)
				}
				why := term.Bytes(int64(w.Size))
				if w.WorkflowID != "" {
					why += ", of workflow " + w.WorkflowID
				}
				p.io.Line(term.Good, "written", w.Name, why)
				for _, problem := range w.Problems {
					p.io.Line(term.Warn, "problem", problem.File, problem.Problem+", expected "+problem.Expected)
				}
				return nil
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the `TEXT`, instead of standard input")
	c.Flags().BoolVar(&force, "force", false, "write it even if its content is not what the contract asks for")
	return c
}

// given is the content that -m gives, or standard input.
func (p *program) given(c *cobra.Command, text string) ([]byte, error) {
	if c.Flags().Changed("message") {
		return []byte(text), nil
	}
	return readInput(p.io.In, "-")
}
