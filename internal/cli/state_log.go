package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) stateLog(f *stateFlags) *cobra.Command {
	var text string
	c := &cobra.Command{
		Use:   "log NAME [-m JSON]",
		Short: "Append a record to a forensic log",
		Long: `Appends one JSON object, from standard input or -m, as a line of a forensic log,
with the time (ts) if it has none. A record over 4032 bytes is cut and marked. A log
that has grown too large begins anew; the old one stays in the archive.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			record, err := p.given(c, text)
			if err != nil {
				return err
			}
			return p.inState(c, f, func(s StateSpace) error {
				line, err := s.Keeper().Log(c.Context(), args[0], record)
				if err != nil {
					return err
				}
				p.io.Printf("%s", line)
				return nil
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the record, instead of standard input")
	return c
}
