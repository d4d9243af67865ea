package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specOverlay() *cobra.Command {
	return &cobra.Command{
		Use:   "overlay",
		Short: "Show which specs each worktree changes, and where two collide",
		Long: `Lists what each worktree added, edited, moved or deleted since it left the main
branch, committed or not. Two worktrees collide if both change the same spec or the
code that it governs: you see it before either is merged.`,
		Example: `  ken spec overlay`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				list, err := w.Spec().Overlays(c.Context())
				if err != nil {
					return err
				}
				return p.answer(list, func() {
					for _, o := range list {
						p.printOverlay(o)
					}
					p.hintCollision(list)
				})
			})
		},
	}
}

// hintCollision says how to compare the two sides of the first collision.
func (p *program) hintCollision(list []spec.WorktreeChanges) {
	branches := make(map[string]string)
	for _, o := range list {
		if o.Branch != nil {
			branches[o.Worktree] = *o.Branch
		}
	}
	for _, o := range list {
		for _, m := range o.Collisions {
			a, b := branches[o.Worktree], branches[m.With[0]]
			if a == "" || b == "" || len(m.Paths) == 0 {
				continue
			}
			p.io.Remarkf("hint: compare what they committed: git diff %s %s -- %s", fault.Quote(a), fault.Quote(b), fault.Quote(m.Paths[0]))
			p.io.Remarkf("hint: to settle it, change one of them, or merge one and rebase the other")
			return
		}
	}
}

func (p *program) printOverlay(o spec.WorktreeChanges) {
	who := "detached"
	if o.Branch != nil {
		who = *o.Branch
	}
	if o.Session != who && o.Session != o.Worktree {
		who += "  " + o.Session
	}
	for _, u := range o.Unknown {
		p.io.Line(term.Bad, "unknown", o.Worktree, u.String())
	}
	switch {
	case len(o.Ops) > 0:
		p.io.Line(term.Plain, "proposes", o.Worktree, who)
	case o.ChangesCode || len(o.Collisions) > 0:
		p.io.Line(term.Plain, "works", o.Worktree, who)
	case len(o.Unknown) == 0:
		p.io.Line(term.Dim, "idle", o.Worktree, who)
	}
	for _, op := range o.Ops {
		var words []string
		if op.Committed {
			words = append(words, "committed")
		}
		if op.Dirty {
			words = append(words, "not committed")
		}
		if op.From != nil && op.To != nil {
			words = append(words, "from "+*op.From+" to "+*op.To)
		}
		p.io.Line(term.Plain, "  "+string(op.Op), op.Node, strings.Join(words, "  "))
	}
	for _, m := range o.Collisions {
		p.io.Line(term.Warn, "  collides", m.Node, "on its "+m.Kind.Words()+" with "+strings.Join(m.With, ", ")+": "+strings.Join(m.Paths, " "))
	}
}
