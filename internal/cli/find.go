package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/ken"
	"ken/internal/term"
)

func (p *program) find() *cobra.Command {
	var limit int
	var kinds []string
	var rev string
	c := &cobra.Command{
		Use:   "find WORDS...",
		Short: "List the places that matter for a task, best first",
		Long: `Searches paths, symbols, comments, code, summaries, documents and the subjects of past
commits for the words, and lists the files that matter most, each with the line to
read first and the reason. It adds files that change together with the best ones, and
ranks a matching file higher if several of the best ones use it. Give a task, a question
or several names.

The first call indexes the work tree; later calls read only what changed.`,
		Example: `  ken find parse a line              # where is this handled?
  ken find ParseLine lines.go        # names work too
  ken find parse --kind test         # only tests`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !strings.ContainsFunc(strings.Join(args, ""), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				return &fault.Error{Kind: fault.Usage, Hint: "ken find WORDS…", Err: errors.New("no words to look for")}
			}
			if limit < 1 && c.Flags().Changed("limit") {
				return usageError(c, fmt.Errorf("--limit %d: want at least 1", limit))
			}
			only, err := find.ParseKinds(kinds)
			if err != nil {
				return usageError(c, err)
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				at, err := w.At(c.Context(), rev)
				if err != nil {
					return err
				}
				a, err := w.Finder().Find(c.Context(), find.Query{Words: args, Limit: limit, Kinds: only}, at)
				if err != nil {
					return err
				}
				return p.answer(a, func() { p.io.Printf("%s", term.CleanText(a.String())) })
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 0, "list at most `N` places (default 10)")
	c.Flags().StringSliceVar(&kinds, "kind", nil, "only files of these `KINDS`: code, test, doc")
	c.Flags().StringVar(&rev, "at", "", "answer for the commit `REV` instead of the work tree")
	return c
}
