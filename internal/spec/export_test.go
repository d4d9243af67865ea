package spec

import "testing"

// Limit lowers the bounds of an answer for a test.
func Limit(t *testing.T, matches, behind int) {
	t.Helper()
	oldMatches, oldBehind := maxMatches, maxBehind
	t.Cleanup(func() { maxMatches, maxBehind = oldMatches, oldBehind })
	maxMatches, maxBehind = matches, behind
}
