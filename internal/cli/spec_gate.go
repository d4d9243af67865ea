package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specGate() *cobra.Command {
	opts := spec.GateOptions{WorkTree: true}
	c := &cobra.Command{
		Use:   "gate [--range A..B]",
		Short: "Refuse a commit to code whose spec is too far behind",
		Long: `Checks the staged files or, if nothing is staged, the edited ones, as git commit -a
would commit them. The gate refuses them if a spec governs one of them, its drift has
reached the threshold (spec.gate_threshold, 3 by default) and the spec itself is not
changed too. Commits that change only comments or layout do not count. With --range it
checks the commits of a range, for CI. Exits with 3 if the gate refuses or if a drift is
unknown.`,
		Example: `  ken spec gate                      # the files that you are about to commit
  ken spec gate --range HEAD~1..HEAD # a range of commits, for CI`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("range") && opts.Range == "" {
				return usageError(c, errors.New("--range is empty: expected A..B"))
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				opts.Threshold = int(w.Config.Spec.Threshold)
				g, err := w.Spec().Gate(c.Context(), opts)
				if err != nil {
					return err
				}
				err = p.answer(g, func() { p.printGate(g) })
				return failCheck(err, !g.Open())
			})
		},
	}
	c.Flags().StringVar(&opts.Range, "range", "", "check the commits `A..B` instead of the staged files")
	return c
}

func (p *program) printGate(g *spec.GateResult) {
	if g.WorkTree {
		p.io.Remarkf("ken: nothing is staged; checked the edited files")
	}
	for _, b := range g.Blocked {
		drift := fmt.Sprintf("drift %d", b.Drift)
		if b.Format > 0 {
			drift += fmt.Sprintf(" (%d format)", b.Format)
		}
		p.io.Line(term.Bad, "blocked", b.Node, drift+"  "+english.First(b.Paths, shownPaths))
	}
	for _, u := range g.Unknown {
		p.io.Line(term.Bad, "unknown", u.What, u.Why)
	}
	switch {
	case g.Notice != "":
		p.io.Printf("passes: %s\n", g.Notice)
	case g.Open():
		p.io.Printf("passes\n")
	}
	for _, b := range g.Blocked {
		p.io.Remarkf("hint: %s", term.Clean(gateHint(b)))
	}
	for _, u := range g.Unknown {
		if u.Command != "" {
			p.io.Remarkf("hint: %s", term.Clean(u.Command))
		}
	}
}

// shownPaths is the number of paths that the gate and the hooks list.
const shownPaths = 3

// gateHint says how to pass the gate.
func gateHint(b spec.BlockedNode) string {
	return fmt.Sprintf("if the code changed the meaning of %s, edit and stage %s; if the spec still holds: ken spec ack %s --reason TEXT", b.Node, b.Spec, fault.Quote(b.Node))
}
