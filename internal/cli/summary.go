package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (p *program) summary() *cobra.Command {
	c := &cobra.Command{
		Use:   "summary",
		Short: "Read and write summaries of files",
		Args:  cobra.NoArgs,
		RunE:  needsSub,
	}
	c.AddCommand(p.summarySet(), p.summaryShow(), p.summaryList())
	return c
}

// needsSub answers a group of commands called without one of them.
func needsSub(c *cobra.Command, _ []string) error {
	names := make([]string, 0, len(c.Commands()))
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return usage(c, fmt.Errorf("%s needs one of: %s", c.CommandPath(), strings.Join(names, ", ")))
}
