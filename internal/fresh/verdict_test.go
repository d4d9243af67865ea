package fresh_test

import (
	"testing"

	"ken/internal/fresh"
)

// The words for verdicts are published. They read back, and the zero verdict is unknown.
func TestVerdictsReadBack(t *testing.T) {
	for word, want := range map[string]fresh.Verdict{
		"unknown": {}, "fresh": {State: fresh.Fresh}, "none": {State: fresh.None}, "excluded": {State: fresh.Excluded},
		"conflicted":  {State: fresh.Unknown, Reason: fresh.Conflicted},
		"sparse":      {State: fresh.Fresh, Reason: fresh.NotCheckedOut},
		"stale-self":  {State: fresh.Stale, Reason: fresh.StaleSelf},
		"stale-below": {State: fresh.Stale, Reason: fresh.StaleBelow},
		"incomplete":  {State: fresh.Stale, Reason: fresh.Incomplete},
		"partial":     {State: fresh.Stale, Reason: fresh.Partial},
		"failed":      {State: fresh.Stale, Reason: fresh.Failed},
	} {
		got := fresh.Failed.Verdict()
		if err := got.UnmarshalText([]byte(word)); err != nil || got != want {
			t.Errorf("%q reads as %+v (error %v), want %+v", word, got, err, want)
		}
		if text, err := want.MarshalText(); err != nil || string(text) != word {
			t.Errorf("the word for %+v is %q (error %v), want %q", want, text, err, word)
		}
	}
	if v := (fresh.Verdict{}); v.UnmarshalText([]byte("splendid")) == nil {
		t.Error("an unknown word reads as a verdict")
	}
}
