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

// DescribeDrift returns the number of drift commits, those that the gate does not count, and the grade.
func (l *ListedSpec) DescribeDrift() string {
	if l.Drift == nil {
		return "unknown"
	}
	words := strconv.Itoa(*l.Drift)
	if l.Format > 0 {
		words += fmt.Sprintf(" (%d format)", l.Format)
	}
	if l.Grade != nil && l.Format < *l.Drift {
		words += " " + string(*l.Grade)
	}
	return words
}

// Describe returns a short text about the state of a spec: version, drift, changed files, and unknown facts.
func (l *ListedSpec) Describe() string {
	var words []string
	add := func(format string, value *int) {
		if value != nil && *value > 0 {
			words = append(words, fmt.Sprintf(format, *value))
		}
	}
	add("v%d", l.Version)
	if l.Drift != nil && *l.Drift > 0 {
		words = append(words, "drift "+l.DescribeDrift())
	}
	if l.Drift != nil && *l.Drift == 0 {
		add("touched %d", l.Touched)
	}
	for i, f := range l.DriftFiles {
		if more := len(l.DriftFiles) - i; i == shownFiles && more > 1 {
			words = append(words, "and "+strconv.Itoa(more)+" more")
			break
		}
		words = append(words, f.File+" +"+strconv.Itoa(f.Behind))
	}
	if l.Dirty != nil && *l.Dirty {
		words = append(words, "not committed")
	}
	if l.InConflict() {
		words = append(words, "in conflict")
	}
	if len(l.Missing) > 0 {
		words = append(words, "not tracked: "+strings.Join(shorten(l.Missing), ", "))
	}
	switch len(l.Problems) {
	case 0:
	case 1:
		words = append(words, "1 problem: ken spec show "+fault.Quote(l.ID))
	default:
		words = append(words, fmt.Sprintf("%d problems: ken spec show %s", len(l.Problems), fault.Quote(l.ID)))
	}
	for _, o := range l.Overlays {
		words = append(words, string(o.Op)+" in "+o.Worktree)
	}
	for i, u := range l.Unknown {
		if i > 0 && l.Unknown[i-1].Why == u.Why {
			continue // listed with the one before
		}
		facts := u.What
		for _, same := range l.Unknown[i+1:] {
			if same.Why != u.Why {
				break
			}
			facts += ", " + same.What
		}
		word := facts + " unknown"
		if u.Why != "" {
			word += ": " + u.Why
		}
		words = append(words, word)
	}
	return strings.Join(words, "  ")
}
