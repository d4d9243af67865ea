package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
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
			return p.within(c.Context(), func(w Workspace) error {
				n, err := w.Spec().Node(c.Context(), args[0])
				if err != nil {
					return err
				}
				listed, err := listedSpec(c.Context(), w, n)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(struct {
						*spec.Listed
						Body  string      `json:"body"`
						Parts *spec.Parts `json:"parts"`
					}{listed, n.Body, n.Parts})
				}
				p.printNode(n, listed)
				return nil
			})
		},
	}
}

// listedSpec returns what git says about a spec.
func listedSpec(ctx context.Context, w Workspace, n *spec.Node) (*spec.Listed, error) {
	l, err := w.Spec().List(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(l.Nodes, func(other spec.Listed) bool { return other.ID == n.ID })
	if i < 0 {
		return nil, fmt.Errorf("%s changed while ken read it; try again", n.Path)
	}
	return &l.Nodes[i], nil
}

func (p *program) printNode(n *spec.Node, listed *spec.Listed) {
	p.io.Line(term.Plain, n.ID, n.Title, n.Desc)
	facts := *listed
	facts.Problems = nil // each has a line of its own
	p.io.Line(statusTone(listed.Status), listed.Status.String(), n.Path.String(), facts.InWords())
	if listed.Session != nil {
		p.io.Line(term.Plain, "session", *listed.Session, "")
	}
	for _, e := range n.Code {
		p.io.Line(term.Plain, "governs", e.Text, "")
	}
	for _, e := range n.Related {
		p.io.Line(term.Dim, "related", e.Text, "")
	}
	for _, problem := range listed.Problems {
		p.io.Line(term.Bad, "problem", n.Path.String(), problem.Message+"; "+problem.Fix)
	}
	p.io.Printf("\n%s\n", strings.TrimSpace(plain(n.Body)))
	if listed.Drift != nil && *listed.Drift > 0 {
		p.io.Remarkf("hint: see what changed: ken spec drift %s", fault.Quote(n.ID))
	}
}
