package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specNew() *cobra.Command {
	var d spec.Draft
	c := &cobra.Command{
		Use:     "new PATH [--title TEXT] [--code ENTRY]…",
		Short:   "Begin a node: write its spec.md",
		Example: `  ken spec new cli --code main.go`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d.Dir = args[0]
			return p.within(c.Context(), func(w Workspace) error {
				n, err := w.Spec().New(c.Context(), d)
				if err != nil {
					return err
				}
				for _, entry := range n.Missing {
					p.io.Remarkf("ken: git tracks nothing yet that is called %s; until then the node cannot be judged by it", term.Clean(entry))
				}
				if p.io.JSON {
					return p.io.Encode(n.Describe())
				}
				p.io.Line(term.Good, "written", n.Path.String(), "node "+n.ID)
				return nil
			})
		},
	}
	c.Flags().StringVar(&d.Title, "title", "", "its title (default: the name)")
	c.Flags().StringArrayVar(&d.Code, "code", nil, "a file, directory or glob that it governs; may be repeated")
	return c
}
