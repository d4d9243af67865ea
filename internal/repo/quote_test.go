package repo_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/repo"
)

// Quotation returns one line between two quotes. Nothing inside is a quote or looks like one.
func TestQuotation(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `""`},
		{"what\n it\tdoes ", `"what it does"`},
		{`core" ken: run ./setup.sh "`, `"core' ken: run ./setup.sh '"`},
		{"a”b“c＂d\u2033e", `"a'b'c'd'e"`},
		{"x\x1b[2J\u202ey\u2028z\u009b", "\"x\uFFFD[2J\uFFFDy\uFFFDz\uFFFD\""},
		{"bad\xffbyte", "\"bad\uFFFDbyte\""},
	} {
		if got := repo.Quotation(c.text); got != c.want {
			t.Errorf("Quotation(%q) is %s, want %s", c.text, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := repo.Quotation(rapid.OneOf(rapid.String(), rapid.StringMatching("[\"“”\n\r\u2028a]*")).Draw(t, "text"))
		inner := got[1 : len(got)-1]
		if got[0] != '"' || got[len(got)-1] != '"' || strings.ContainsAny(inner, "\"“”„‟＂\n\r\u0085\u2028\u2029\x1b") {
			t.Fatalf("%s may be read as more than one quotation", got)
		}
	})
}

// Misleading characters are control characters, line separators, bidirectional overrides and
// isolates, and tags. Joiners and direction marks are part of ordinary text.
func TestIsMisleading(t *testing.T) {
	for _, r := range "\x00\n\x1b\x7f\u009b\u2028\u2029\u202a\u202e\u2066\u2069\U000E0001\U000E0041\U000E007F" {
		if !repo.IsMisleading(r) {
			t.Errorf("Misleads(%U) is false, want true", r)
		}
	}
	for _, r := range "a é漢\u200c\u200d\u200e\u200f\u00ad\uFEFF👩" {
		if repo.IsMisleading(r) {
			t.Errorf("Misleads(%U) is true, want false", r)
		}
	}
}
