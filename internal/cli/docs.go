package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/docs"
	"ken/internal/repo"
	"ken/internal/term"
)

type docsFlags struct {
	all, check bool
}

func (p *program) docs() *cobra.Command {
	var f docsFlags
	c := &cobra.Command{
		Use:   "docs [PATH…]",
		Short: "Say which paths, symbols and commands the documents name are no longer there",
		RunE: func(c *cobra.Command, args []string) error {
			return p.within(c.Context(), func(w Workspace) error {
				only, err := paths(w, args, nil)
				if err != nil {
					return err
				}
				rep, err := w.Docs(c.Context(), only)
				if err != nil {
					return err
				}
				p.printDocs(rep, f.all)
				if f.check && len(rep.Shown()) > 0 {
					return errWanting
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&f.all, "all", false, "list everything that does not hold")
	c.Flags().BoolVar(&f.check, "check", false, "exit 3 if anything is listed")
	return c
}

func (p *program) printDocs(rep *docs.Report, all bool) {
	shown := 0
	for _, j := range rep.Mentions {
		if j.Hidden != "" && (!all || j.Verdict == docs.Holds) {
			continue
		}
		shown++
		p.io.Printf("%s\n", docsLine(&j))
	}
	p.io.Printf("%d documents, %d mentions, %d shown, %v\n", rep.Documents, len(rep.Mentions), shown, rep.Counts)
}

func docsLine(j *docs.Judged) string {
	text := fmt.Sprintf("%s:%d: %s — %s", j.File, j.Line, term.Clean(j.Text), j.Verdict)
	if j.Verdict == docs.Moved {
		text += " to " + repo.Path(j.To).String()
	}
	if j.Since != nil {
		text += fmt.Sprintf(" since %s %q", j.Since.ID.Short(), j.Since.Subject)
	}
	return text
}
