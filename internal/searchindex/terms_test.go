package searchindex

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	tests := []struct{ text, want string }{
		{"HTTPServer", "http server httpserver"},
		{"parse_line", "parse line parseline"},
		{"getURLPath2", "get url path getURLPath2"},
		{"a.b(c)", ""},
		{"größeÄnderung", "größe änderung größeänderung"},
		{"v2 x86_64", "86 64 x8664 v2"},
		{"__init__", "init"},
		{strings.Repeat("x", 200), ""},
	}
	for _, tt := range tests {
		got := strings.Join(Terms(tt.text), " ")
		if sortWords(got) != sortWords(strings.ToLower(tt.want)) {
			t.Errorf("Terms(%q) = %q, expected %q", tt.text, got, tt.want)
		}
	}
}

func sortWords(s string) string {
	words := strings.Fields(s)
	for i := range words {
		for j := i + 1; j < len(words); j++ {
			if words[j] < words[i] {
				words[i], words[j] = words[j], words[i]
			}
		}
	}
	return strings.Join(words, " ")
}

func FuzzTerms(f *testing.F) {
	f.Add("HTTPServer parse_line")
	f.Add("\xff\xfeÄ")
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range Terms(text) {
			if len(term) < 2 || utf8.ValidString(text) && !utf8.ValidString(term) {
				t.Errorf("Terms(%q) has %q", text, term)
			}
		}
	})
}
