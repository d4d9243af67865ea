package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/term"
	"ken/internal/usage"
)

func (p *program) uses() *cobra.Command {
	var opts usage.Query
	var rev string
	var all bool
	c := &cobra.Command{
		Use:   "uses PATH[#SYMBOL]",
		Short: "List who uses a file or symbol, what it uses, and what tests it",
		Long: `Lists the files that use a file, a directory or a symbol, with lines; what it uses;
its tests with the command that runs them; the files that change with it; its copies;
and the scripts and documents that mention its path.

An exact use was resolved through an import or a package. A use is likely if its name
has only one declaration in reach. If a name has several possible declarations, ken only
counts the use. Mentions that may be uses and that no rule resolves are listed apart. If
ken has no rules for a language, it says that the users are unknown.

The answer has about 25 lines, the most telling first. --all lists everything.`,
		Example: `  ken uses internal/parse/parse.go         # a file
  ken uses internal/parse/parse.go#Words   # a symbol of a file
  ken uses --tests Words                   # only its tests, with the command that runs them`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("limit") && opts.Limit < 1:
				return usageError(c, fmt.Errorf("--limit %d: want at least 1", opts.Limit))
			case all && c.Flags().Changed("limit"):
				return usageError(c, errors.New("--all lists everything: leave out --limit"))
			case all && len(args) == 0 && !p.io.JSON:
				return &fault.Error{Kind: fault.Usage, Hint: "ken uses --all --json", Err: errors.New("--all without a path needs --json")}
			case !all && len(args) == 0:
				return missing(c, "PATH[#SYMBOL]")
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) (err error) {
				if opts.At, err = w.At(c.Context(), rev); err != nil {
					return err
				}
				if len(args) == 0 {
					edges, err := usage.Edges(c.Context(), w.Finder(), opts.At)
					if err != nil {
						return err
					}
					return p.io.Encode(map[string]any{"edges": edges})
				}
				opts.Asked = args[0]
				short := opts.Limit == 0 && !all
				if all || short && !p.io.JSON {
					opts.Limit = usage.NoLimit // the text has its own limits
				}
				a, err := usage.Ask(c.Context(), w.Finder(), opts)
				switch {
				case err != nil:
					return err
				case p.io.JSON && opts.Tests:
					return p.io.Encode(a.TestsDocument())
				case p.io.JSON:
					return p.io.Encode(a)
				case short:
					p.io.Printf("%s", term.CleanText(a.String()))
				default:
					p.io.Printf("%s", term.CleanText(a.Text(opts.Limit)))
				}
				for _, u := range a.Unknown {
					if u.What == "" {
						p.io.Remarkf("ken: %s", u.Why)
					}
				}
				return nil
			})
		},
	}
	c.Flags().IntVar(&opts.Limit, "limit", 0, "list at most `N` files in each part")
	c.Flags().BoolVar(&opts.Tests, "tests", false, "list only the tests, with the commands that run them")
	c.Flags().StringVar(&rev, "at", "", "answer for the commit `REV` instead of the work tree")
	c.Flags().BoolVar(&all, "all", false, "list everything; without a path and with --json: all uses between files")
	return c
}
