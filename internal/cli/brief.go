package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/brief"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/ken"
	"ken/internal/term"
)

func (p *program) brief() *cobra.Command {
	var budget int
	var rev string
	c := &cobra.Command{
		Use:   "brief [PATH]",
		Short: "Print what to know first about the repository, a directory or a file",
		Long: `Prints what a file or directory is for, the specs and instructions that apply to it, its main
symbols or files, who uses it, how to run its tests, what changes with it, and its last
commits. Without PATH it prints what the repository is, how to build and test it, its
main parts and where to start reading. A summary says whether it is fresh or stale. The
most important comes first, and ken prints no more than the budget allows.`,
		Example: `  ken brief                              # the whole repository
  ken brief internal/parse/parse.go      # one file
  ken brief internal --budget 500        # at most 500 tokens`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("budget") && budget < brief.MinBudget {
				return usageError(c, fmt.Errorf("--budget %d: want at least %d tokens", budget, brief.MinBudget))
			}
			answer := func(w *ken.Repository) error {
				path, err := optionalPath(w, args)
				if err != nil {
					return err
				}
				at, err := w.At(c.Context(), rev)
				if err != nil {
					return err
				}
				briefer := w.Briefer()
				b, err := briefer.Brief(c.Context(), brief.Options{Path: path, Budget: budget, At: at})
				if file := find.StripLineNumber(path); fault.KindOf(err) == fault.Usage && file != path { // PATH:LINE
					if other, otherErr := briefer.Brief(c.Context(), brief.Options{Path: file, Budget: budget, At: at}); otherErr == nil {
						b, err = other, nil
					}
				}
				if err != nil {
					return err
				}
				return p.answer(b, func() { p.io.Printf("%s", term.CleanText(b.String())) })
			}
			if rev != "" {
				return p.withBareRepository(c.Context(), answer)
			}
			return p.withRepository(c.Context(), answer)
		},
	}
	c.Flags().IntVar(&budget, "budget", 0, "print at most so many `TOKENS`, of 4 bytes each (default 1500)")
	c.Flags().StringVar(&rev, "at", "", "answer for the commit `REV` instead of the work tree")
	return c
}
