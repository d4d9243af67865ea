package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specNew() *cobra.Command {
	var d spec.Draft
	c := &cobra.Command{
		Use:     "new PATH [--title TEXT] [--code ENTRY]…",
		Short:   "Write the first version of a spec",
		Example: `  ken spec new cli --code main.go`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d.Dir = args[0]
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				n, err := w.Spec().New(c.Context(), d)
				if err != nil {
					return err
				}
				for _, entry := range n.Missing {
					p.io.Remarkf("ken: git tracks no file %s yet; the spec has no drift for it until then", term.Clean(entry))
				}
				return p.answer(n.JSON(), func() { p.io.Line(term.Good, "written", n.Path.String(), "spec "+n.ID) })
			})
		},
	}
	c.Flags().StringVar(&d.Title, "title", "", "`TITLE` of the spec (default: its name)")
	c.Flags().StringArrayVar(&d.Code, "code", nil, "`PATH` of a file, directory or glob that it governs, from the repository's root (repeatable)")
	return c
}
