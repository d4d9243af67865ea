// Package fault gives failures the two things a caller can act on: a kind, which
// each face turns into its own form (exit status, tool error, HTTP status), and
// a hint, the next command to paste.
//
// It does not print anything and knows no particular failure.
package fault

import (
	"errors"
	"strings"
)

// A Kind says what sort of failure it is. The zero value is Failed.
type Kind int

// The kinds, few on purpose.
const (
	Failed      Kind = iota // it did not work
	Usage                   // wrong arguments
	Stale                   // it worked, and the answer is stale, drifted, foreign or unknown
	NoRepo                  // not inside a git repository
	Locked                  // someone else holds the lock
	Interrupted             // the user or a signal stopped it
)

// An Error is a failure with its kind and a hint.
type Error struct {
	Kind Kind
	Hint string // the next command to paste, or ""
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost Error in err's chain, else Failed.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}

// HintOf returns the first hint in err's chain, "" when there is none.
func HintOf(err error) string {
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// Quote makes a word of s that a shell reads back as s, for hints that can be
// pasted.
func Quote(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%,=", r) &&
			(r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
