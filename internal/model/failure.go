package model

import "errors"

// A Reason is the kind of failure of a turn.
type Reason int

// The reasons. RateLimited, Overloaded and Down are returned only after the retries.
const (
	Other        Reason = iota
	NoKey               // the environment has no key, or none that is valid
	Unauthorized        // the provider rejects the key
	NoCredit            // the account has no money or a spending limit is reached
	NoModel             // the provider, or this machine, does not have the model
	RateLimited         // too many requests, even after the retries
	Overloaded          // the provider is overloaded, even after the retries
	Down                // no connection, a broken connection, a timeout or a server error, even after the retries
	BadAnswer           // the response is not valid, or too large
	BadRequest          // the provider rejects the request
	TooLong             // the conversation exceeds the context window of the model
	Cancelled           // the context of the caller was cancelled
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

// Permanent reports whether every other conversation with the same model would fail the same way. The caller should
// not try the next one.
func (r Reason) Permanent() bool {
	return r == NoKey || r == Unauthorized || r == NoCredit || r == NoModel
}

// A Failure is an error with its reason.
type Failure struct {
	Reason Reason
	Err    error
	// Unsent is set if the request reached no server, so it cannot have cost anything.
	Unsent bool
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// NotCharged reports whether the model did no work for the request that failed with err: the request was not sent, or
// the provider rejected it.
func NotCharged(err error) bool {
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

// ReasonOf returns the reason in the chain of err, or Other if there is none.
func ReasonOf(err error) Reason {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Reason
	}
	return Other
}
