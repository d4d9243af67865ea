package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/repo"
)

func (p *program) receipt() *cobra.Command {
	c := &cobra.Command{Use: "receipt", Short: "Check receipts", Args: cobra.NoArgs, RunE: needsSub}
	c.AddCommand(p.receiptCheck())
	return c
}

func (p *program) receiptCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [RECEIPT|-]",
		Short: "Say whether a receipt held at its commit, and whether it holds here",
		Long: `Checks a receipt offline, in any clone. The summary that it names may hold here, at
the commit of the receipt, at both or at neither. If this clone does not have the
record, ken compares the content that it was written from. Exits 3 unless the summary
holds here.`,
		Example: `  ken summary show main.go --json | sed -n 's/.*"receipt": "\(.*\)".*/\1/p' | ken receipt check`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text := "-"
			if len(args) == 1 {
				text = args[0]
			}
			if text == "-" {
				b, err := readInput(p.io.In, "-")
				if err != nil {
					return err
				}
				text = string(b)
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				out, err := w.Summaries().CheckReceipt(c.Context(), text)
				if err != nil {
					return err
				}
				err = p.answer(out, func() {
					subject := repo.PathJSON{Path: out.Subject, B64: out.B64}.Display()
					p.io.Line(toneOf(out.Here), out.Here.String(), subject, "here"+colon(strings.Join(append(reasonWords(out.ReasonsHere), out.Details...), ", ")))
					p.io.Line(toneOf(out.AtCommit), out.AtCommit.String(), subject, "at "+out.Commit.Short()+colon(strings.Join(reasonWords(out.ReasonsAtCommit), ", ")))
					if out.Hint != "" {
						p.io.Remarkf("hint: %s", out.Hint)
					}
				})
				return failCheck(err, out.Verdict != fresh.Fresh)
			})
		},
	}
}
