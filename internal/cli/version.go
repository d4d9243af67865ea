package cli

import "github.com/spf13/cobra"

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  ken version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return p.answer(map[string]string{"version": p.Version}, func() { p.io.Printf("ken %s\n", p.Version) })
		},
	}
}
