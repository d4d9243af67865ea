// Package fresh decides whether a text about a repository still holds.
//
// Every text has a basis: the exact content it was written from. The answer depends on the basis and on the current
// content alone, not on a clock or an mtime. The package reads and stores nothing.
package fresh

import (
	"slices"

	"ken/internal/enum"
	"ken/internal/repo"
)

// A State is the verdict about a text. Its zero value is Unknown, so that a forgotten error cannot count as fresh.
type State uint8

// The states.
const (
	Unknown  State = iota // not judged, or judging failed
	Fresh                 // the content is what the text was written from
	Stale                 // the content changed
	None                  // there is no text
	Gone                  // the subject no longer exists
	Excluded              // the policy asks for no text
)

var stateNames = enum.Names[State]{"unknown", "fresh", "stale", "none", "gone", "excluded"}

func (s State) String() string { return stateNames.String(s) }

// MarshalText writes the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *State) UnmarshalText(b []byte) error { return stateNames.Parse(b, s) }

// A Grade says how much of the content changed, from least to most.
type Grade string

// The grades of a change.
const (
	GradeFormat    Grade = "format"    // white space and plain comments only
	GradeBody      Grade = "body"      // inside definitions
	GradeInterface Grade = "interface" // a signature was added, changed or removed
	GradeContent   Grade = "content"   // other bytes; the extent is unknown
)

// Grades lists every grade, from least to most.
var Grades = []Grade{GradeFormat, GradeBody, GradeInterface, GradeContent}

// Rank orders grades: the larger the change, the higher the rank; -1 for an unknown grade.
func (g Grade) Rank() int { return slices.Index(Grades, g) }

// Judge says whether a text with a basis holds for the current content. If the content is unknown, so is the
// verdict.
func Judge(basis Basis, now repo.Content) State {
	switch {
	case basis.IsZero():
		return None
	case now.ID.IsZero() && now.MD5.IsZero():
		return Unknown
	case basis.Matches(now):
		return Fresh
	default:
		return Stale
	}
}
