package spec

import "errors"

// What a request may lack, for faces whose way to say it is not the command of the hint.
var (
	ErrNoReason = errors.New("ack: no reason given")
	ErrNoNodes  = errors.New("ack: no spec given")
)

// A NoNodeError is an id that no node has.
type NoNodeError struct {
	ID   string
	Near []string // those that it may have been meant for
}

func (e *NoNodeError) Error() string { return "unknown spec " + show(e.ID) }
