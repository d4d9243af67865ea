package term_test

import (
	"testing"
	"time"

	"ken/internal/term"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		past time.Duration
		want string
	}{
		{-time.Hour, "dated in the future"},
		{time.Second, "just now"},
		{time.Minute, "1 minute ago"},
		{59 * time.Minute, "59 minutes ago"},
		{47 * time.Hour, "47 hours ago"},
		{72 * time.Hour, "3 days ago"},
	} {
		if got := term.Age(now, now.Add(-tt.past)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.past, got, tt.want)
		}
	}
}
