package surveyrun

import (
	"errors"
	"time"

	"ken/internal/model"
	"ken/internal/survey"
)

// A Fate is what becomes of a directory that was not described.
type Fate int

// The fates.
const (
	Again   Fate = iota // it is tried again, after a while
	Refused             // nobody will describe it: those above go on without its text
	GivenUp             // it is dead until somebody has it tried again
	Back                // it is as if nobody had tried
	Stop                // the same, and no other directory would fare better here
)

// How often a directory is tried.
const (
	maxAttempts = 5  // that failed because of what came back
	maxAway     = 40 // that failed because nobody answered
)

// ErrTwin is in the chain when a directory waits for another one that holds the same, and is
// being described: its text will speak for both.
var ErrTwin = errors.New("the same is being described in another place")

// twinPause is how long to wait before looking whether a twin is described.
const twinPause = 2 * time.Second

// FateOf says what becomes of a directory after so many attempts that failed, this one
// included, and how long to wait before the next.
func FateOf(err error, attempts int) (Fate, time.Duration) {
	reason := model.ReasonOf(err)
	switch {
	case errors.Is(err, ErrCeiling):
		return Back, 0
	case errors.Is(err, ErrTwin):
		return Back, twinPause
	case errors.Is(err, survey.ErrHopeless):
		return Stop, 0
	case errors.Is(err, survey.ErrRefused), reason == model.TooLong, reason == model.BadRequest:
		return Refused, 0
	case reason == model.RateLimited, reason == model.Overloaded, reason == model.Down:
		if attempts >= maxAway {
			return GivenUp, 0
		}
	case attempts >= maxAttempts:
		return GivenUp, 0
	}
	return Again, backoff(attempts)
}

// backoff is how long to wait after so many attempts: 2 seconds, doubled with each, and at
// most 2 minutes.
func backoff(attempts int) time.Duration {
	return min(time.Second<<min(max(attempts, 1), 10), 2*time.Minute)
}
