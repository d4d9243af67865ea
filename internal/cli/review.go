package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/review"
	"ken/internal/term"
)

func (p *program) review() *cobra.Command {
	var opts review.Options
	var markdown, sarif, check bool
	c := &cobra.Command{
		Use:   "review [RANGE]",
		Short: "List what a change makes stale or breaks, and which tests to run",
		Long: `Judges your change since the merge base with the main branch: commits, staged and
unstaged edits, and new files. REV replaces the main branch. A..B judges the commits
that B has and A does not.

ken lists documents that mention removed things (docs), specs with too much drift for
the gate (drift), code that still uses removed things (broken) or may use them (may use),
tests to run (tests) and summaries of older content (stale). The last line (unsure) has
the places that mention a removed name and that no rule of a language settles. The most
important lines come first, and there are at most eight. ken only counts older problems;
--all lists them.

With --check, ken exits with 3 if there is a line of docs or drift. review.fail_on in
.ken/config.yaml names other kinds.`,
		Example: `  ken review                    # what I changed since the main branch
  ken review HEAD               # only what is not committed
  ken review HEAD~1..HEAD --markdown   # for a pull request`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if markdown && sarif || p.io.JSON && (markdown || sarif) {
				return usageError(c, errors.New("set only one of --json, --markdown, --sarif"))
			}
			if len(args) > 0 {
				opts.Range = args[0]
			}
			run := func(w *ken.Repository) error {
				r, err := w.Reviewer().Review(c.Context(), opts)
				if err != nil {
					return err
				}
				switch {
				case p.io.JSON:
					err = p.io.Encode(r)
				case markdown:
					p.io.Printf("%s", r.Markdown())
				case sarif:
					err = p.io.Encode(p.reviewSARIF(r))
				default:
					p.io.Printf("%s", term.CleanText(r.String()))
				}
				return failCheck(err, check && r.Fails(w.Config.Review.Kinds()))
			}
			if strings.Contains(opts.Range, "..") { // a bare repository has commits, too
				return p.withBareRepository(c.Context(), run)
			}
			return p.withRepository(c.Context(), run)
		},
	}
	c.Flags().BoolVar(&opts.All, "all", false, "list every line, and problems from before the change")
	c.Flags().BoolVar(&check, "check", false, "exit with 3 if there is a line of a kind in review.fail_on")
	c.Flags().BoolVar(&markdown, "markdown", false, "print Markdown for a pull request; nothing if there is no line")
	c.Flags().BoolVar(&sarif, "sarif", false, "print SARIF 2.1.0 for code scanning")
	return c
}

// reviewSARIF returns the lines that name a file as SARIF. Counts and tests have no location.
func (p *program) reviewSARIF(r *review.Review) sarifLog {
	run := newSARIFRun(p.Version)
	for _, line := range r.Lines {
		if line.Kind == review.Tests || line.Kind == review.Also {
			continue
		}
		level := "warning"
		if slices.Contains([]review.Kind{review.Stale, review.MayUse, review.Unsure}, line.Kind) {
			level = "note"
		}
		text := term.Clean(line.Text)
		if line.Command != "" {
			text += "; next: " + term.Clean(line.Command)
		}
		rule := sarifRule{ID: "review/" + strings.ReplaceAll(string(line.Kind), " ", "-")}
		if line.Path != "" {
			run.add(rule, level, text, line.Path, line.Line)
		}
		for _, place := range line.Places {
			run.add(rule, level, text, place.Path, place.FirstLine())
		}
	}
	return run.log()
}
