package cli

import (
	"ken/internal/ken"
	"ken/internal/term"

	"github.com/spf13/cobra"
)

func (p *program) surveyReport() *cobra.Command {
	files := false
	c := &cobra.Command{
		Use:   "report",
		Short: "Print all directory summaries and findings as Markdown",
		Example: `  ken survey report
  ken survey report --files >docs/overview.md   # with the summaries of files`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				r, err := w.Survey(nil).Report(c.Context())
				if err != nil {
					return err
				}
				if files {
					listed, err := w.Registry.List(c.Context(), nil, nil)
					if err != nil {
						return err
					}
					r.Files = listed.Entries
				}
				return p.answer(r, func() { p.io.Printf("%s", term.CleanText(r.Markdown())) })
			})
		},
	}
	c.Flags().BoolVar(&files, "files", false, "also print the summaries of files")
	return c
}
