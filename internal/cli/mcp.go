package cli

import "github.com/spf13/cobra"

func (p *program) mcp() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Answer an agent over the Model Context Protocol on stdin and stdout",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.ServeMCP(c.Context(), p.dir)
		},
	}
}
