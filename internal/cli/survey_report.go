package cli

import (
	"ken/internal/ken"

	"github.com/spf13/cobra"
)

func (p *program) surveyReport() *cobra.Command {
	return &cobra.Command{
		Use:     "report",
		Short:   "Print all directory summaries and findings as Markdown",
		Example: `  ken survey report`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.within(c.Context(), func(w *ken.Repository) error {
				r, err := w.Survey(nil).Report(c.Context())
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(r)
				}
				p.io.Printf("%s", plain(r.Markdown()))
				return nil
			})
		},
	}
}
