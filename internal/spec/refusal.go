package spec

import "errors"

// What a request may lack, for faces whose way to say it is not the command of the hint.
var (
	ErrNoReason = errors.New("an ack needs a reason")
	ErrNoNodes  = errors.New("an ack names the nodes that still hold")
)

// A NoNodeError is an id that no node has.
type NoNodeError struct {
	ID   string
	Near []string // those that it may have been meant for
}

func (e *NoNodeError) Error() string { return "there is no node " + show(e.ID) }
