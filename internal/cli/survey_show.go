package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/survey"
)

func (p *program) surveyShow() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "show [DIR]",
		Short: "Print what is said of directories, and whether it holds",
		Example: `  ken survey show              # every directory
  ken survey show internal     # those below one`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.within(c.Context(), func(w Workspace) error {
				dir, err := oneDir(w, args)
				if err != nil {
					return err
				}
				shown, err := w.Survey(nil).Show(c.Context(), dir)
				if err != nil {
					return err
				}
				if p.io.JSON {
					err = p.io.Encode(shown)
				} else {
					p.printShown(shown, len(args) > 0)
				}
				if err == nil && check && shown.Wanting() {
					err = errWanting
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if a text does not hold or cannot be judged")
	return c
}

// printShown prints the tree; the whole text of the first directory when it was asked
// for by name, else the beginning of each.
func (p *program) printShown(shown *survey.Shown, named bool) {
	if len(shown.Directories) == 0 {
		p.io.Printf("there are no directories: nothing is tracked yet\n")
		return
	}
	p.io.Together(func() {
		for i, d := range shown.Directories {
			why := d.Reasons
			if d.Verdict == survey.StaleBelow || d.Verdict == survey.Incomplete {
				why = append([]string{fmt.Sprintf("%d/%d", d.K, d.N)}, why...)
			}
			if named && i == 0 && d.Text != nil {
				p.io.Line(toneOf(d.Verdict.State()), d.Verdict.String(), display(d.PathJSON), strings.Join(append(why, "by "+*d.Author), ", "))
				p.io.Printf("%s\n\n", plain(*d.Text))
				continue
			}
			if d.Text != nil {
				first, _, _ := strings.Cut(*d.Text, "\n")
				why = append(why, first)
			}
			p.io.Line(toneOf(d.Verdict.State()), d.Verdict.String(), strings.Repeat("  ", d.Depth)+display(d.PathJSON), strings.Join(why, ", "))
		}
	})
}
