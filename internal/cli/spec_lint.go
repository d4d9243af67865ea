package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specLint() *cobra.Command {
	var check, sarif bool
	c := &cobra.Command{
		Use:   "lint [--check] [--sarif]",
		Short: "Check that the specs and the code they name belong together",
		Long: `Errors: entries that name nothing git tracks, or a symbol that its file does not
have, headings that keep a history in the body, mentions of nodes that are not there,
files that cannot be understood or that a merge has left in conflict.
Warnings: names that are no ids, source files that no node knows, files that too
many govern, and a tree that governs nothing. Each says what closes it.`,
		Example: `  ken spec lint --check   # for scripts`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.within(c.Context(), func(w Workspace) error {
				found, err := w.Spec().Lint(c.Context())
				if err != nil {
					return err
				}
				switch {
				case sarif:
					err = p.io.Encode(sarifOf(p.Version, found))
				case p.io.JSON:
					err = p.io.Encode(found)
				default:
					p.printLint(found)
				}
				if err == nil && check && len(found.Errors) > 0 {
					err = errWanting
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is an error")
	c.Flags().BoolVar(&sarif, "sarif", false, "print SARIF, for code scanning")
	return c
}

func (p *program) printLint(found spec.Linted) {
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
		p.io.Printf("nothing is wrong\n")
	}
}
