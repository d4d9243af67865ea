package suggest_test

import (
	"strings"
	"testing"

	"ken/internal/suggest"
)

func TestTypoDistance(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		letters int
		ok      bool
	}{
		{"lexer", "lexer", 0, true},
		{"Lexer", "lEXER", 0, true},
		{"lexr", "lexer", 1, true},
		{"lexre", "lexer", 1, true},
		{"lexer", "xeler", 2, false},
		{"overdew", "review", 5, false},
		{"impl-resut", "impl-result", 1, true},
		{"verifications", "verify", 0, false},
		{"authentication", "authantycatio", 3, true},
		{"ab", "ab", 0, true},
		{"ab", "ac", 0, false},
		{"ab", "ba", 0, false},
		{"", "", 0, true},
		{"", "a", 0, false},
		{strings.Repeat("a", 300), strings.Repeat("a", 300), 0, false},
	} {
		if n, ok := suggest.TypoDistance(c.a, c.b); ok != c.ok || ok && n != c.letters {
			t.Errorf("TypoDistance(%.20q, %.20q) = %d, %t; want %d, %t", c.a, c.b, n, ok, c.letters, c.ok)
		}
		if n, ok := suggest.TypoDistance(c.b, c.a); ok != c.ok || ok && n != c.letters {
			t.Errorf("TypoDistance(%.20q, %.20q) = %d, %t; want %d, %t", c.b, c.a, n, ok, c.letters, c.ok)
		}
	}
}
