package cli

import (
	"strings"

	"github.com/spf13/cobra"

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
			return p.within(c.Context(), func(w Workspace) error {
				list, err := w.Spec().Overlays(c.Context())
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(list)
				}
				for _, o := range list {
					p.printOverlay(o)
				}
				return nil
			})
		},
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
		p.io.Line(term.Bad, "unknown", o.Worktree, u.Fact+": "+u.Reason)
	}
	switch {
	case len(o.Ops) > 0:
		p.io.Line(term.Plain, "proposes", o.Worktree, who)
	case o.Works || len(o.Collisions) > 0:
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
