package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/spec"
)

func (p *program) specGraph() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "graph [--format dot|mermaid]",
		Short:   "Print the specs and the code they govern as a graph",
		Example: `  ken spec graph --format mermaid`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f := spec.GraphFormat(format); f != spec.Dot && f != spec.Mermaid {
				return usage(c, fmt.Errorf("--format: expected %s or %s, not %q", spec.Dot, spec.Mermaid, format))
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				nodes, err := w.Spec().Nodes(c.Context())
				if err != nil {
					return err
				}
				text := spec.Graph(nodes, spec.GraphFormat(format))
				return p.answer(map[string]string{"format": format, "graph": text}, func() { p.io.Printf("%s", text) })
			})
		},
	}
	c.Flags().StringVar(&format, "format", string(spec.Dot), "`LANGUAGE` of the graph: dot (Graphviz) or mermaid (Markdown)")
	return c
}
