package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/fresh"
	"ken/internal/ken"
)

func (p *program) summaryList() *cobra.Command {
	legal := []string{"fresh", "stale", "gone", "none", "excluded", "unknown"}
	var states []string
	var b64 []string
	c := &cobra.Command{
		Use:     "ls [PATH…]",
		Aliases: []string{"list"},
		Short:   "List summaries, one line each",
		Example: `  ken summary ls
  ken summary ls --state none   # files that have no summary`,
		RunE: func(c *cobra.Command, args []string) error {
			var want []fresh.State
			for _, s := range states {
				var st fresh.State
				if !slices.Contains(legal, s) {
					return badValue(c, "state", s, legal)
				}
				if err := st.UnmarshalText([]byte(s)); err != nil {
					return usageError(c, err)
				}
				want = append(want, st)
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				only, err := paths(w, args, b64)
				if err != nil {
					return err
				}
				l, err := w.Registry.List(c.Context(), only, want)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(l)
				}
				assumed := false
				for _, k := range l.Entries {
					assumed = assumed || k.Assumed
					p.io.Line(toneOf(k.Verdict), k.Verdict.String(), k.Display(), k.FirstLine())
				}
				if assumed {
					p.io.Remarkf("ken: assumed: the author did not say which content it read")
				}
				return nil
			})
		},
	}
	c.Flags().StringSliceVar(&states, "state", nil, "list only files in these `STATES`: fresh, stale, gone, none, excluded, unknown (default: all files that have a summary)")
	pathB64(c, &b64)
	return c
}
