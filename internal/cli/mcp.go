package cli

import "github.com/spf13/cobra"

func (p *program) mcp() *cobra.Command {
	return &cobra.Command{
		Use:     "mcp",
		Short:   "Serve the Model Context Protocol on stdin and stdout, for agents",
		Example: `  ken mcp < /dev/null   # clients start it; ken install registers it`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.ServeMCP(c.Context(), p.dir)
		},
	}
}
