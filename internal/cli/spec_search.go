package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specSearch() *cobra.Command {
	return &cobra.Command{
		Use:     "search WORD…",
		Short:   "Find the specs that contain all given words, best first",
		Example: `  ken spec search words`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				nodes, err := w.Spec().Nodes(c.Context())
				if err != nil {
					return err
				}
				hits := spec.Search(nodes, strings.Join(args, " "))
				if p.io.JSON {
					return p.io.Encode(hits)
				}
				for _, h := range hits {
					p.io.Line(term.Plain, h.ID, h.Title, h.Snippet)
				}
				if len(hits) == 0 {
					p.io.Printf("no spec contains these words\n")
				}
				return nil
			})
		},
	}
}
