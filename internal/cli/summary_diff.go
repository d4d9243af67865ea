package cli

import (
	"ken/internal/ken"
	"ken/internal/term"

	"github.com/spf13/cobra"
)

func (p *program) summaryDiff() *cobra.Command {
	var b64 []string
	c := &cobra.Command{
		Use:        "diff PATH",
		SuggestFor: []string{"diff"},
		Short:      "Show what changed since a summary was written",
		Long: `Shows the summary of a file or directory and what changed since it was written. The
last lines have the next command: ken summary confirm with the id of the content that
you just saw, or the command for a new summary.`,
		Example: `  ken summary diff main.go          # a file; directories work too
  ken summary diff main.go --json   # with the ids of both contents`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args)+len(b64) != 1 {
				return missing(c, "PATH")
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				only, err := paths(w, args, b64)
				if err != nil {
					return err
				}
				d, err := w.Reviewer().Diff(c.Context(), only[0])
				if err != nil {
					return err
				}
				return p.answer(d, func() { p.io.Printf("%s", term.CleanText(d.String())) })
			})
		},
	}
	pathB64(c, &b64)
	return c
}
