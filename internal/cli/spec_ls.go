package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

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
			return p.within(c.Context(), func(w Workspace) error {
				l, err := w.Spec().List(c.Context())
				if err != nil {
					return err
				}
				if p.io.JSON {
					err = p.io.Encode(l)
				} else {
					p.printListing(l)
				}
				if err == nil && check && l.Wanting() {
					err = errWanting
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if a spec is in drift, broken or unknown, or names missing code")
	return c
}

func (p *program) printListing(l *spec.Listing) {
	for _, u := range l.Unknown {
		p.io.Remarkf("ken: %s unknown: %s", u.Fact, term.Clean(u.Reason))
	}
	if len(l.Nodes) == 0 {
		p.io.Printf("no specs yet\n")
		p.io.Remarkf("hint: write the first one: ken spec new NAME --code PATH")
		return
	}
	p.io.Together(func() {
		for _, at := range spec.InOrder(l.Nodes) {
			tone, why := describeNode(at.Node)
			p.io.Line(tone, at.Node.Status.String(), strings.Repeat("  ", at.Depth)+at.Node.ID, why)
		}
	})
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

// shownFiles is the number of files that a line names.
const shownFiles = 4

// shorten cuts a list to shownFiles names.
func shorten(names []string) []string {
	if more := len(names) - shownFiles; more > 1 {
		return append(slices.Clone(names[:shownFiles]), fmt.Sprintf("and %d more", more))
	}
	return names
}

// describeNode returns the facts about a spec in a few words.
func describeNode(n *spec.Listed) (term.Tone, string) {
	var words []string
	add := func(format string, value *int) {
		if value != nil && *value > 0 {
			words = append(words, fmt.Sprintf(format, *value))
		}
	}
	add("v%d", n.Version)
	drift := "drift %d"
	if n.Grade != nil {
		drift += " " + string(*n.Grade)
	}
	add(drift, n.Drift)
	if n.Drift != nil && *n.Drift == 0 {
		add("touched %d", n.Touched)
	}
	for i, f := range n.DriftFiles {
		if more := len(n.DriftFiles) - i; i == shownFiles && more > 1 {
			words = append(words, "and "+strconv.Itoa(more)+" more")
			break
		}
		words = append(words, f.File+" +"+strconv.Itoa(f.Behind))
	}
	if n.Dirty != nil && *n.Dirty {
		words = append(words, "not committed")
	}
	if n.InConflict() {
		words = append(words, "in conflict")
	}
	if len(n.Missing) > 0 {
		words = append(words, "not tracked: "+strings.Join(shorten(n.Missing), ", "))
	}
	if len(n.Problems) > 0 {
		words = append(words, term.Count(len(n.Problems), "problem"))
	}
	for _, o := range n.Overlays {
		words = append(words, string(o.Op)+" in "+o.Worktree)
	}
	for i, u := range n.Unknown {
		if i > 0 && n.Unknown[i-1].Reason == u.Reason {
			continue // listed with the one before
		}
		facts := u.Fact
		for _, same := range n.Unknown[i+1:] {
			if same.Reason != u.Reason {
				break
			}
			facts += ", " + same.Fact
		}
		words = append(words, fmt.Sprintf("%s unknown: %s", facts, u.Reason))
	}
	return statusTone(n.Status), strings.Join(words, "  ")
}
