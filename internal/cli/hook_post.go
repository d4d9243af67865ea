package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/fresh"
	"ken/internal/registry"
)

func (p *program) hookPostCommit() *cobra.Command {
	return &cobra.Command{
		Use:     "post-commit",
		Short:   "Verify what a commit changed, and list stale summaries",
		Example: `  ken hook post-commit`,
		Args:    cobra.ArbitraryArgs,
		RunE: p.neverFail("the commit", func(c *cobra.Command, _ []string) error {
			ctx, cancel, err := p.hookContext(c.Context())
			if err != nil {
				return err
			}
			defer cancel()
			h, err := p.OpenHooks(ctx, p.dir)
			if err != nil {
				return err
			}
			closed, err := h.Close(ctx)
			if err != nil || closed == nil {
				return err
			}
			stale := staleIn(closed)
			if len(stale) == 0 {
				return nil
			}
			p.io.Remarkf("ken: the commit made these summaries stale: %s", firstFew(stale))
			p.io.Remarkf("hint: list what to write: ken close; see what changed since a summary: ken diff PATH")
			return nil
		}),
	}
}

// staleIn lists the files of a commit whose summaries are stale.
func staleIn(c *registry.CloseResult) []string {
	var list []string
	for _, n := range c.NeedsSummary {
		if n.Summary == fresh.Stale {
			list = append(list, display(n.PathJSON))
		}
	}
	return list
}
