package cli

import (
	"context"
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
				if p.io.JSON {
					return p.io.Encode(struct {
						spec.Described
						Body  string      `json:"body"`
						Parts *spec.Parts `json:"parts"`
					}{n.Describe(), n.Body, n.Parts})
				}
				p.printNode(n)
				return p.printDrift(c.Context(), w, n.ID)
			})
		},
	}
}

// printDrift says how far a spec is behind its code, and how to settle that.
func (p *program) printDrift(ctx context.Context, w Workspace, id string) error {
	l, err := w.Spec().List(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(l.Nodes, func(n spec.Listed) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	n := &l.Nodes[i]
	p.io.Printf("\n")
	p.io.Line(statusTone(n.Status), n.Status.String(), n.ID, n.InWords())
	if n.Drift != nil && *n.Drift > 0 {
		p.io.Remarkf("hint: if the code changed the meaning of %s, edit %s; if the spec still holds: ken spec ack %s --reason TEXT",
			term.Clean(n.ID), term.Clean(n.Path), fault.Quote(n.ID))
	}
	return nil
}

func (p *program) printNode(n *spec.Node) {
	p.io.Line(term.Plain, n.ID, n.Title, n.Desc)
	for _, e := range n.Code {
		p.io.Line(term.Plain, "governs", e.Text, "")
	}
	for _, e := range n.Related {
		p.io.Line(term.Dim, "related", e.Text, "")
	}
	for _, problem := range n.Problems {
		p.io.Line(term.Bad, "problem", n.Path.String(), problem.Message)
	}
	p.io.Printf("\n%s\n", strings.TrimSpace(plain(n.Body)))
}
