package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show a spec and the code it governs",
		Example: `  ken spec show parser`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				n, err := w.Spec().Show(c.Context(), args[0])
				if err != nil {
					return err
				}
				return p.answer(n, func() { p.printSpec(n) })
			})
		},
	}
}

func (p *program) printSpec(n *spec.Details) {
	p.io.Line(term.Plain, n.ID, n.Title, n.Desc)
	facts := *n.ListedSpec
	facts.Problems = nil // each has a line of its own
	p.io.Line(statusTone(n.Status), n.Status.String(), n.Path, facts.Describe())
	if n.Session != nil {
		p.io.Line(term.Plain, "session", *n.Session, "")
	}
	for _, e := range n.Code {
		p.io.Line(term.Plain, "governs", e, "")
	}
	for _, e := range n.Related {
		p.io.Line(term.Dim, "related", e, "")
	}
	for _, problem := range n.Problems {
		p.io.Line(term.Bad, "problem", n.Path, problem.Message+"; "+problem.Fix)
	}
	p.io.Printf("\n%s\n", strings.TrimSpace(term.CleanText(n.Body)))
	if n.Drift != nil && *n.Drift > 0 {
		p.io.Remarkf("hint: see what changed: ken spec drift %s", fault.Quote(n.ID))
	}
}
