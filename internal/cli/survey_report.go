package cli

import (
	"ken/internal/ken"
	"ken/internal/term"

	"github.com/spf13/cobra"
)

func (p *program) surveyReport() *cobra.Command {
	return &cobra.Command{
		Use:     "report",
		Short:   "Print all directory summaries and findings as Markdown",
		Example: `  ken survey report`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				r, err := w.Survey(nil).Report(c.Context())
				if err != nil {
					return err
				}
				return p.answer(r, func() { p.io.Printf("%s", term.CleanText(r.Markdown())) })
			})
		},
	}
}
