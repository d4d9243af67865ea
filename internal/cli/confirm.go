package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (p *program) confirm() *cobra.Command {
	var read string
	var b64 []string
	c := &cobra.Command{
		Use:   "confirm PATH…",
		Short: "Say that a summary still holds for what is there now",
		Long: `Records that you read a file and its summary still holds: the same text, with
the content there now as its new basis, and you as its witness. The cheap answer
to a stale mark.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args)+len(b64) == 0 {
				return usage(c, errors.New("name at least one file"))
			}
			return p.within(c.Context(), func(w Workspace) error {
				only, err := paths(w, args, b64)
				if err != nil {
					return err
				}
				written, err := w.Registry().Confirm(c.Context(), only, read)
				if err != nil {
					return err
				}
				return p.printWritten(written, false)
			})
		},
	}
	c.Flags().StringVar(&read, "read", "", "content `ID` or md5 of the bytes that you read")
	pathB64(c, &b64)
	return c
}
