package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/term"
)

func (p *program) specOwner() *cobra.Command {
	return &cobra.Command{
		Use:     "owner PATH…",
		Short:   "Show which specs govern a file or the files of a directory, and which refer to it",
		Example: `  ken spec owner internal/parse/parse.go`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				chosen, err := paths(w, args, nil)
				if err != nil {
					return err
				}
				owners, err := w.Spec().OwnersBelow(c.Context(), chosen)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(owners)
				}
				for _, o := range owners {
					for _, claim := range o.Governing {
						p.io.Line(term.Good, "governs", o.Display(), claim.ID+"  "+claim.Desc)
					}
					for _, claim := range o.Related {
						p.io.Line(term.Dim, "related", o.Display(), claim.ID+"  "+claim.Desc)
					}
					for _, u := range o.Unknown {
						p.io.Line(term.Warn, "unknown", o.Display(), u.What+"  "+u.Why)
					}
					if len(o.Governing)+len(o.Related)+len(o.Unknown) == 0 {
						p.io.Line(term.Warn, "none", o.Display(), "no spec governs it")
					}
				}
				return nil
			})
		},
	}
}
