package spec

import (
	"errors"

	"ken/internal/spec/parse"
)

// ErrNoReason and ErrNoNodes report an incomplete ack request. Callers other than the command line test for them
// to give their own hint.
var (
	ErrNoReason = errors.New("ack: no reason given")
	ErrNoNodes  = errors.New("ack: no spec given")
)

// An UnknownSpecError reports an id that no spec has.
type UnknownSpecError struct {
	ID   string
	Near []string // similar ids
}

func (e *UnknownSpecError) Error() string { return "unknown spec " + parse.Quote(e.ID) }
