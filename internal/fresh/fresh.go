// Package fresh decides whether something written about a repository still
// holds.
//
// Every text carries its basis: the exact content it was written from. The
// answer depends on that and on the content there now, and on nothing else: no
// clock, no mtime, no guess. Where content comes from, and where texts are kept,
// is for others to know.
package fresh

import (
	"fmt"
	"slices"

	"ken/internal/repo"
)

// A State is how far a text can be trusted. Its zero value is Unknown, so that
// a forgotten error cannot pass for good news.
type State uint8

// The states.
const (
	Unknown  State = iota // nobody has looked, or looking failed
	Fresh                 // the content is what the text was written from
	Stale                 // the content has moved since
	None                  // there is no text
	Gone                  // there is nothing left to speak of
	Excluded              // policy asks for no text
)

var stateNames = [...]string{"unknown", "fresh", "stale", "none", "gone", "excluded"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// MarshalText writes the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *State) UnmarshalText(b []byte) error {
	for i, name := range stateNames {
		if name == string(b) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("unknown state %q", b)
}

// A Grade says how much of the content moved, from least to most.
type Grade string

// The grades of a change.
const (
	GradeFormat    Grade = "format"    // white space and plain comments only
	GradeBody      Grade = "body"      // inside definitions
	GradeInterface Grade = "interface" // a signature appeared, changed or went
	GradeContent   Grade = "content"   // other bytes; nothing finer is known
)

// Grades lists every grade, from least to most.
var Grades = []Grade{GradeFormat, GradeBody, GradeInterface, GradeContent}

// Rank orders grades: the more moved, the higher; -1 for what is none.
func (g Grade) Rank() int { return slices.Index(Grades, g) }

// Judge says whether a text written from basis holds for the content now there.
// A content that could not be established is Unknown, whatever the basis.
func Judge(basis Basis, now repo.Content) State {
	switch {
	case basis.IsZero():
		return None
	case now.ID.IsZero() && now.MD5.IsZero():
		return Unknown
	case basis.Holds(now):
		return Fresh
	default:
		return Stale
	}
}
