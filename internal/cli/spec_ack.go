package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specAck() *cobra.Command {
	var req spec.AckRequest
	c := &cobra.Command{
		Use:   "ack ID… --reason TEXT",
		Short: "Acknowledge that specs still hold, although their code changed",
		Long: `Makes an empty commit that records: these specs still hold for the code as it is
now. Their drift is 0 again, until the code changes. The index and the work tree
stay as they are.`,
		Example: `  ken spec ack parser --reason 'a cache; the meaning is the same'`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			req.Nodes, req.Session = args, p.Session()
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				done, err := w.Spec().Ack(c.Context(), req)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(done)
				}
				if len(done.Nodes) > 0 {
					p.io.Line(term.Good, "acked", strings.Join(done.Nodes, ", "), "in commit "+done.Commit.Short())
				}
				if len(done.Edited) > 0 {
					edited := strings.Join(done.Edited, ", ")
					p.io.Remarkf("ken: the edit of %s is not committed; the ack is about the committed text", edited)
				}
				if len(done.NoDrift) > 0 {
					p.io.Line(term.Plain, "no drift", strings.Join(done.NoDrift, ", "), "nothing to acknowledge")
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&req.Reason, "reason", "", "`TEXT` that says why the specs still hold (required)")
	return c
}
