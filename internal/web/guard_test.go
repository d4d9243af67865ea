package web

import "testing"

// New fails without a token.
func TestNewNeedsToken(t *testing.T) {
	if _, err := New(Deps{}, Options{}); err == nil {
		t.Error("New accepted an empty token")
	}
}
