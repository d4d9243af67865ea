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

// Quote makes a word of s that bash, zsh and fish read back as s, for hints that can be
// pasted.
func Quote(s string) string {
	if s != "" && s[0] != '=' && strings.Trim(s, wordChars) == "" { // zsh looks for the program =NAME
		return s
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		// Within quotes, fish lets a backslash escape the next backslash or quote.
		escapes := s[i] == '\\' && (i+1 == len(s) || s[i+1] == '\\' || s[i+1] == '\'')
		if escapes || s[i] == '\'' {
			b.WriteString(`'\` + s[i:i+1] + `'`)
		} else {
			b.WriteByte(s[i])
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// WithRemark adds a remark behind a command. Interactive zsh has no comments, so a remark that a shell could expand is
// quoted.
func WithRemark(command, remark string) string {
	switch {
	case remark == "":
		return command
	case strings.Trim(remark, wordChars+" ") != "":
		remark = Quote(remark)
	}
	return command + "  # " + remark
}

// wordChars are characters that mean nothing to a shell.
const wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,="
