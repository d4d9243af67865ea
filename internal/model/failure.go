package model

import "errors"

// A Reason says why there is no reply.
type Reason int

// The reasons. Those that pass have been waited out before they are given.
const (
	Other        Reason = iota
	NoKey               // none in the environment, or nothing that could be one
	Unauthorized        // the provider does not accept the key
	NoCredit            // the account has no money or a spending limit is reached
	NoModel             // the provider, or the machine, has no such model
	RateLimited         // too much asked in too short a time, still
	Overloaded          // the provider has too much to do, still
	Down                // no connection, a broken one, silence or a server's failure, still
	BadAnswer           // what came back is no answer, or too large to be one
	BadRequest          // the provider does not take the request
	TooLong             // the conversation is longer than the model can read
	Cancelled           // the caller's context ended it
)

var reasons = [...]string{
	"failed", "no key", "unauthorized", "no credit", "no such model", "rate limited", "overloaded", "down",
	"bad answer", "bad request", "too long", "cancelled",
}

func (r Reason) String() string {
	if r < 0 || int(r) >= len(reasons) {
		return reasons[Other]
	}
	return reasons[r]
}

// Hopeless reports whether another conversation with the same model would fail
// the same way, so that there is no use in trying the next.
func (r Reason) Hopeless() bool {
	return r == NoKey || r == Unauthorized || r == NoCredit || r == NoModel
}

// A Failure is an error with its reason.
type Failure struct {
	Reason Reason
	Err    error
	// Unsent says that nobody has got the request, so that nothing can have been spent.
	Unsent bool
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Unpaid reports whether an error says that the model has not begun to work on a request:
// nobody has got it, or it was turned away.
func Unpaid(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return false
	}
	switch f.Reason {
	case NoKey, Unauthorized, NoCredit, NoModel, RateLimited, Overloaded, BadRequest, TooLong:
		return true
	default:
		return f.Unsent
	}
}

// ReasonOf returns the reason in err's chain, Other when there is none.
func ReasonOf(err error) Reason {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Reason
	}
	return Other
}
