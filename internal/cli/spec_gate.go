package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specGate() *cobra.Command {
	var opts spec.GateOptions
	c := &cobra.Command{
		Use:   "gate [--range A..B]",
		Short: "Stop a commit to code whose spec is too far behind",
		Long: `Judges what is staged: a node blocks that governs some of it and whose drift is at
the threshold already, unless its spec is staged too. With --range, the same of a
range of commits, for CI. Exits 3 when a node blocks or cannot be judged.`,
		Example: `  ken spec gate                      # what is staged, as the commit hook asks
  ken spec gate --range HEAD~1..HEAD # a range of commits, for CI`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("range") && opts.Range == "" {
				return usage(c, errors.New("--range is empty: want A..B"))
			}
			return p.within(c.Context(), func(w Workspace) error {
				opts.Threshold = w.GatePolicy().Threshold
				g, err := w.Spec().Gate(c.Context(), opts)
				if err != nil {
					return err
				}
				if p.io.JSON {
					err = p.io.Encode(g)
				} else {
					p.printGate(g)
				}
				if err == nil && !g.Open() {
					err = errWanting
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&opts.Range, "range", "", "judge these commits instead of what is staged")
	return c
}

func (p *program) printGate(g *spec.Gated) {
	for _, b := range g.Blocked {
		p.io.Line(term.Bad, "blocked", b.Node, fmt.Sprintf("drift %d  %s", b.Drift, firstFew(b.Paths)))
	}
	for _, u := range g.Unknown {
		p.io.Line(term.Bad, "unknown", cmp.Or(u.Node, u.Fact), u.Reason)
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
		if u.Fix != "" {
			p.io.Remarkf("hint: %s", term.Clean(u.Fix))
		}
	}
}

// gateHint says what opens the gate again.
func gateHint(b spec.Blocked) string {
	return fmt.Sprintf("if %s is to change, edit and stage %s; if it still holds: ken spec ack %s --reason TEXT", b.Node, b.Spec, fault.Quote(b.Node))
}

// firstFew names the first of some paths.
func firstFew(paths []string) string {
	const few = 3
	shown := strings.Join(paths[:min(len(paths), few)], ", ")
	if more := len(paths) - few; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return shown
}
