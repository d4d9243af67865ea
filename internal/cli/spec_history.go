package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/term"
)

func (p *program) specHistory() *cobra.Command {
	return &cobra.Command{
		Use:     "history ID",
		Short:   "List the versions of a spec, newest first",
		Example: `  ken spec history parser`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				rows, err := w.Spec().History(c.Context(), args[0])
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(rows)
				}
				for _, r := range rows {
					why := r.Subject
					if r.Additions != nil {
						why = fmt.Sprintf("+%d -%d  %s", *r.Additions, *r.Deletions, why)
					}
					if r.Session != nil {
						why += "  " + *r.Session
					}
					p.io.Line(term.Plain, r.Commit.Short(), r.Date, why)
				}
				if len(rows) == 0 {
					p.io.Printf("the spec is not committed yet\n")
				}
				return nil
			})
		},
	}
}
