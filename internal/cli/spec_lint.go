package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specLint() *cobra.Command {
	var check, sarif bool
	c := &cobra.Command{
		Use:   "lint [--check] [--sarif]",
		Short: "Find mistakes in specs and in the paths they name",
		Long: `Errors: a path that git does not track, a symbol that its file does not contain, a
heading such as "## v2" (git keeps the history), a mention of an unknown spec, a file that
ken cannot parse, a merge conflict. Warnings: a directory name that cannot be an id,
source files that no spec names, files with too many specs, specs that govern
nothing. Each line says how to fix it.`,
		Example: `  ken spec lint --check   # for scripts`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				found, err := w.Spec().Lint(c.Context())
				if err != nil {
					return err
				}
				switch {
				case sarif:
					err = p.io.Encode(p.lintSARIF(found))
				case p.io.JSON:
					err = p.io.Encode(found)
				default:
					p.printLint(found)
				}
				return failCheck(err, check && len(found.Errors) > 0)
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is an error")
	c.Flags().BoolVar(&sarif, "sarif", false, "print SARIF for code scanning")
	return c
}

func (p *program) printLint(found spec.LintResult) {
	list := func(tone term.Tone, word string, findings []spec.Finding) {
		for _, f := range findings {
			place := f.Path
			if f.Line > 0 {
				place = fmt.Sprintf("%s:%d", f.Path, f.Line)
			}
			if place == "" {
				place = f.Rule
			}
			p.io.Line(tone, word, place, f.Message+"; "+f.Fix)
		}
	}
	list(term.Bad, "error", found.Errors)
	list(term.Warn, "warning", found.Warnings)
	if len(found.Errors)+len(found.Warnings) == 0 {
		p.io.Printf("no mistakes found\n")
	}
}

// lintSARIF returns the findings of ken spec lint as SARIF.
func (p *program) lintSARIF(found spec.LintResult) sarifLog {
	run := newSARIFRun(p.Version)
	add := func(level string, findings []spec.Finding) {
		for _, f := range findings {
			run.add(sarifRule{ID: f.Rule}, level, f.Message+"; "+f.Fix, cmp.Or(f.Path, spec.Root), f.Line)
		}
	}
	add("error", found.Errors)
	add("warning", found.Warnings)
	slices.SortFunc(run.Tool.Driver.Rules, func(a, b sarifRule) int { return cmp.Compare(a.ID, b.ID) })
	return run.log()
}
