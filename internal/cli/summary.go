package cli

import "github.com/spf13/cobra"

func (p *program) summary() *cobra.Command {
	c := &cobra.Command{
		Use:   "summary",
		Short: "Read and write summaries of files",
		Args:  cobra.NoArgs,
		RunE:  needsSub,
	}
	c.AddCommand(p.summarySet(), p.summaryShow(), p.summaryList(), p.summaryDiff(), p.summaryConfirm(), p.summaryClose())
	return c
}
