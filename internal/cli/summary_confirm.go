package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/summary"
	"ken/internal/term"
)

func (p *program) summaryConfirm() *cobra.Command {
	var read string
	var b64 []string
	c := &cobra.Command{
		Use:        "confirm PATH…",
		SuggestFor: []string{"confirm"},
		Short:      "Record that the summary of a file or directory still holds",
		Long: `Records that you read a file or directory and that its summary still holds. ken
stores the same text for the current content, with your name. Parent directories
that were stale only because of this summary become fresh again.`,
		Example: `  ken summary diff main.go             # read what changed first
  ken summary confirm main.go
  ken summary confirm internal/parse   # a directory`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args)+len(b64) == 0 {
				return missing(c, "PATH")
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				only, err := paths(w, args, b64)
				if err != nil {
					return err
				}
				done, err := w.Summaries().Confirm(c.Context(), only, read)
				if err != nil {
					return err
				}
				return p.printConfirmed(done)
			})
		},
	}
	c.Flags().StringVar(&read, "read", "", "the `ID` of what you read, as ken summary diff prints it; of a file also its md5")
	pathB64(c, &b64)
	return c
}

// printConfirmed prints the results of confirmations. It returns errFailed if one was rejected.
func (p *program) printConfirmed(list []summary.Confirmed) error {
	if p.io.JSON {
		if err := p.io.Encode(list); err != nil {
			return err
		}
	}
	rejected := false
	for _, c := range list {
		rejected = rejected || c.Result == registry.Rejected
		switch {
		case p.io.JSON:
		case c.Verdict == nil || c.Result == registry.Rejected:
			p.printWrittenLine(c.WriteResult)
		case c.Verdict.State != fresh.Fresh:
			p.io.Line(term.Warn, string(c.Result), c.Display(), c.Reason+colon(strings.Join(c.Reasons, ", ")))
		default:
			why := "the summary holds for the current content"
			if len(c.Above) > 0 {
				why += "; also fresh again: " + strings.Join(c.Above, ", ")
			}
			p.io.Line(term.Good, string(c.Result), c.Display(), why)
		}
	}
	if rejected {
		return errFailed
	}
	return nil
}
