package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specAck() *cobra.Command {
	var req spec.AckRequest
	c := &cobra.Command{
		Use:   "ack ID… --reason TEXT",
		Short: "Put on record that specs still hold, whatever happened to their code",
		Long: `Makes an empty commit that says so, with what the specs and the code they govern
are at this moment. It quiets the drift of these nodes up to here; code that moves
on from here drifts again. Neither the index nor the work tree is touched.`,
		Example: `  ken spec ack parser --reason 'faster; the words are the same'`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			req.Nodes, req.Session = args, p.Session()
			return p.within(c.Context(), func(w Workspace) error {
				done, err := w.Spec().Ack(c.Context(), req)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(done)
				}
				p.io.Line(term.Good, "acked", strings.Join(done.Nodes, ", "), "in commit "+done.Commit.Short())
				return nil
			})
		},
	}
	c.Flags().StringVar(&req.Reason, "reason", "", "why they still hold (required)")
	return c
}
