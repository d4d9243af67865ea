package surveyrun

import (
	"errors"
	"time"

	"ken/internal/model"
	"ken/internal/survey/describe"
)

// A FailureAction says how a run continues with a directory after a failed attempt.
type FailureAction int

// The actions.
const (
	ActionRetry  FailureAction = iota // try again after a delay
	ActionRefuse                      // record that the model refuses; directories above continue without a summary
	ActionGiveUp                      // mark it dead until a user retries it
	ActionReturn                      // make it ready again; the attempt does not count
	ActionStop                        // the same, and stop this worker: every directory would fail here
)

// The most failed attempts at a directory.
const (
	maxAttempts         = 5  // because of the answer
	maxAttemptsNoAnswer = 40 // because the provider did not answer
)

// ErrSameInput means that a directory waits for another one with the same content
// that a worker is summarising. Both will have that summary.
var ErrSameInput = errors.New("another worker summarises a directory with the same content")

// sameInputPause is the delay before a worker checks whether the other summary is stored.
const sameInputPause = 2 * time.Second

// ActionAfter returns the action after a failed attempt, and the delay before the next one.
// attempts counts the failed attempts, this one included.
func ActionAfter(err error, attempts int) (FailureAction, time.Duration) {
	reason := model.ReasonOf(err)
	switch {
	case errors.Is(err, ErrCeiling):
		return ActionReturn, 0
	case errors.Is(err, ErrSameInput):
		return ActionReturn, sameInputPause
	case errors.Is(err, describe.ErrFatal):
		return ActionStop, 0
	case errors.Is(err, describe.ErrRefused), reason == model.TooLong, reason == model.BadRequest:
		return ActionRefuse, 0
	case reason == model.RateLimited, reason == model.Overloaded, reason == model.Down:
		if attempts >= maxAttemptsNoAnswer {
			return ActionGiveUp, 0
		}
	case attempts >= maxAttempts:
		return ActionGiveUp, 0
	}
	return ActionRetry, backoff(attempts)
}

// backoff returns the delay after a number of failed attempts: 2 seconds, doubled with each,
// and at most 2 minutes.
func backoff(attempts int) time.Duration {
	return min(time.Second<<min(max(attempts, 1), 10), 2*time.Minute)
}
