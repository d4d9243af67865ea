package review_test

import (
	"slices"
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/review"
)

// The configuration names the kinds that fail a check; an empty list means none.
func TestPolicy(t *testing.T) {
	for text, want := range map[string][]review.Kind{
		"":                       {review.Docs, review.Drift},
		"fail_on: []":            {},
		"fail_on: [tests, also]": {review.Tests, review.Also},
	} {
		var p review.Policy
		if err := config.Parse([]byte(text), &p); err != nil || !slices.Equal(p.Kinds(), want) {
			t.Errorf("%q gives the kinds %v, %v; want %v", text, p.Kinds(), err, want)
		}
	}
	err := config.Parse([]byte("fail_on: [doc]"), new(review.Policy))
	if want := `fail_on: unknown kind "doc" (valid: docs, drift, broken, may use, tests, stale, also)`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an unknown kind gives %v, want %s", err, want)
	}
}
