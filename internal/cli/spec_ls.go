package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

func (p *program) specList() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the specs with status, version and drift",
		Long: `Prints the tree of specs. The version counts the commits that changed the spec. The
drift counts later commits that changed code it governs; an edit and its revert are
no drift. The grade says how much that code changed: format, body, interface or
content. ken computes all of it from git's history and says "unknown" if it cannot.`,
		Example: `  ken spec ls
  ken spec ls --check   # exit 3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				l, err := w.Spec().List(c.Context())
				if err != nil {
					return err
				}
				err = p.answer(l, func() { p.printListing(l) })
				return failCheck(err, check && l.NeedsAttention())
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if a spec is in drift, broken or unknown, or names missing code")
	return c
}

func (p *program) printListing(l *spec.Listing) {
	for _, u := range l.Unknown {
		p.io.Remarkf("ken: %s unknown: %s", u.What, term.Clean(u.Why))
	}
	if len(l.Nodes) == 0 {
		p.io.Printf("no specs yet\n")
		p.io.Remarkf("hint: write the first one: ken spec new NAME --code PATH")
		return
	}
	shared := sharedReason(l.Nodes)
	p.io.Buffered(func() {
		for _, at := range spec.TreeOrder(l.Nodes) {
			n := *at.Node
			n.Unknown = slices.Clone(n.Unknown)
			for i, u := range n.Unknown {
				if u.Why == shared {
					n.Unknown[i].Why = "" // it follows once for all
				}
			}
			p.io.Line(statusTone(n.Status), n.Status.String(), strings.Repeat("  ", at.Depth)+n.ID, n.Describe())
		}
		if shared != "" {
			p.io.Printf("unknown: %s\n", term.Clean(shared))
		}
	})
}

// sharedReason returns the reason for unknown facts that most specs have, "" if only one spec
// has it.
func sharedReason(nodes []spec.ListedSpec) string {
	specs := make(map[string]int)
	most := ""
	for i := range nodes {
		counted := make(map[string]bool)
		for _, u := range nodes[i].Unknown {
			if counted[u.Why] {
				continue
			}
			counted[u.Why] = true
			specs[u.Why]++
			if specs[u.Why] > max(specs[most], 1) {
				most = u.Why
			}
		}
	}
	return most
}

func statusTone(s spec.Status) term.Tone {
	switch s {
	case spec.StatusDrift:
		return term.Warn
	case spec.StatusUnknown:
		return term.Bad
	case spec.StatusPending:
		return term.Dim
	case spec.StatusMerged:
		return term.Good
	default:
		return term.Plain
	}
}
