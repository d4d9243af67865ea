package spec

import "errors"

// What a request may lack, for faces whose way to say it is not the command of the hint.
var (
	ErrNoReason = errors.New("ack: no reason given")
	ErrNoNodes  = errors.New("ack: no spec given")
)

// An UnknownSpecError is an id that no node has.
type UnknownSpecError struct {
	ID   string
	Near []string // those that it may have been meant for
}

func (e *UnknownSpecError) Error() string { return "unknown spec " + show(e.ID) }
