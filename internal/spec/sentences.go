package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/fault"
)

// shownFiles is the number of files that a line names.
const shownFiles = 4

// shorten cuts a list to shownFiles names.
func shorten(names []string) []string {
	if more := len(names) - shownFiles; more > 1 {
		return append(slices.Clone(names[:shownFiles]), fmt.Sprintf("and %d more", more))
	}
	return names
}

// Describe returns a short text about the state of a spec: version, drift, changed files, and unknown facts.
func (n *ListedSpec) Describe() string {
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
	switch len(n.Problems) {
	case 0:
	case 1:
		words = append(words, "1 problem: ken spec show "+fault.Quote(n.ID))
	default:
		words = append(words, fmt.Sprintf("%d problems: ken spec show %s", len(n.Problems), fault.Quote(n.ID)))
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
		word := facts + " unknown"
		if u.Reason != "" {
			word += ": " + u.Reason
		}
		words = append(words, word)
	}
	return strings.Join(words, "  ")
}
