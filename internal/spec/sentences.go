package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
)

// ShownFiles is the number of files that a line names.
const ShownFiles = 4

// shorten cuts a list to ShownFiles names.
func shorten(names []string) []string {
	if more := len(names) - ShownFiles; more > 1 {
		return append(slices.Clone(names[:ShownFiles]), fmt.Sprintf("and %d more", more))
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
	return l.describe(func(name string) string { return name }, ": ken spec show "+fault.Quote(l.ID))
}

// Quoted returns Describe for agents, with the texts of the repository in quotes.
func (l *ListedSpec) Quoted() string { return l.describe(repo.QuotedName, "") }

// describe returns the text with names as quote returns them, and how to see the problems.
func (l *ListedSpec) describe(quote func(string) string, see string) string {
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
		if more := len(l.DriftFiles) - i; i == ShownFiles && more > 1 {
			words = append(words, "and "+strconv.Itoa(more)+" more")
			break
		}
		words = append(words, quote(f.File)+" +"+strconv.Itoa(f.Behind))
	}
	if l.Dirty != nil && *l.Dirty {
		words = append(words, "not committed")
	}
	if l.InConflict() {
		words = append(words, "in conflict")
	}
	if len(l.Missing) > 0 {
		words = append(words, "not tracked: "+strings.Join(shorten(quotedAll(l.Missing, quote)), ", "))
	}
	if n := len(l.Problems); n > 0 {
		words = append(words, english.Count(n, "problem")+see)
	}
	var proposals []string
	for _, o := range l.Overlays {
		proposals = append(proposals, string(o.Op)+" in "+quote(o.Worktree))
	}
	words = append(words, shorten(proposals)...)
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
			word += ": " + quote(u.Why)
		}
		words = append(words, word)
	}
	return strings.Join(words, "  ")
}

func quotedAll(names []string, quote func(string) string) []string {
	var all []string
	for _, name := range names {
		all = append(all, quote(name))
	}
	return all
}
