package cli

import "testing"

// A line about a file does not name it twice.
func TestWithoutPath(t *testing.T) {
	if got := withoutPath("docs/big.md", "read docs/big.md: permission denied"); got != "permission denied" {
		t.Errorf("the reason is %q, want %q", got, "permission denied")
	}
	if got := withoutPath("big.md", "too large"); got != "too large" {
		t.Errorf("the reason is %q, want it as it was", got)
	}
}
