package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/contract"
)

func (p *program) stateSlug() *cobra.Command {
	return &cobra.Command{
		Use:     "slug NAME",
		Short:   "Print the slug of a review lane, for use in file names",
		Example: `  ken state slug "API & web"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			slug := contract.Slug(args[0])
			return p.answer(slug, func() { p.io.Printf("%s\n", slug) })
		},
	}
}
