package cli

import (
	"ken/internal/workflow"

	"github.com/spf13/cobra"
)

func (p *program) stateLog(f *stateFlags) *cobra.Command {
	var text string
	c := &cobra.Command{
		Use:   "log NAME [-m JSON]",
		Short: "Append a record to a log",
		Long: `Appends one JSON object as a line of a log, from standard input or -m. The time is
added as "ts" unless the object has one. A record over 4032 bytes is shortened and
marked. A log that reaches 4 MiB moves to the archive, and a new one starts.`,
		Example: `  ken state log probe-failures.jsonl -m '{"category": "timeout"}'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			record, err := p.messageOrInput(c, text)
			if err != nil {
				return err
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				line, err := s.Log(c.Context(), args[0], record)
				if err != nil {
					return err
				}
				p.io.Printf("%s", line)
				return nil
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the record as `JSON` (default: standard input)")
	return c
}
