package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/term"
)

func (p *program) surveyShow() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "show [DIR]",
		Short: "Show directory summaries, and whether they are fresh",
		Example: `  ken survey show              # every directory
  ken survey show internal     # those below one`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				dir, err := optionalPath(w, args)
				if err != nil {
					return err
				}
				shown, err := w.Dispatcher().Show(c.Context(), dir)
				if err != nil {
					return err
				}
				err = p.answer(shown, func() { p.printShown(shown, len(args) > 0) })
				return failCheck(err, check && shown.NeedsAttention())
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if a summary is stale or unknown")
	return c
}

// printShown prints the tree of directories with the first line of each summary. If the
// user named a directory, its whole summary is printed.
func (p *program) printShown(shown *survey.DirListing, named bool) {
	if len(shown.Directories) == 0 {
		p.io.Printf("no directories: git tracks no file yet\n")
		return
	}
	leases := make(map[string]survey.LeasedPath, len(shown.Leases))
	for _, h := range shown.Leases {
		leases[h.Path] = h
	}
	p.io.Buffered(func() {
		for i, d := range shown.Directories {
			why := d.Reasons
			if h, ok := leases[d.Path]; ok {
				why = append([]string{leasedTo(h)}, why...)
			}
			if d.Verdict.Reason == fresh.StaleBelow {
				why = append([]string{fmt.Sprintf("%d of %s changed", d.ChangedChildren, english.Count(d.CountedChildren, "subdirectory"))}, why...)
			}
			if named && i == 0 && d.Text != nil {
				p.io.Line(toneOf(d.Verdict.State), d.Word(), d.Display(), strings.Join(append(why, "by "+*d.Author), ", "))
				p.io.Printf("%s\n\n", term.CleanText(*d.Text))
				continue
			}
			switch {
			case d.Text != nil:
				why = append(why, describe.Headline(*d.Text))
			case d.Outline && named && i == 0:
				why = append(why, store.EmptyOutline)
			}
			p.io.Line(toneOf(d.Verdict.State), d.Word(), strings.Repeat("  ", d.Depth)+d.Display(), strings.Join(why, ", "))
		}
	})
}
