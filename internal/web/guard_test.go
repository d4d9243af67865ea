package web

import "testing"

// A dashboard without a token would be anybody's.
func TestThereIsAToken(t *testing.T) {
	if _, err := New(Deps{}, Options{}); err == nil {
		t.Error("it does without")
	}
}
