package english

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "file", "0 files"},
		{1, "file", "1 file"},
		{2, "file", "2 files"},
		{1, "more directory", "1 more directory"},
		{3, "more directory", "3 more directories"},
		{2, "entry", "2 entries"},
		{2, "day", "2 days"},
		{2, "key", "2 keys"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

func TestAnd(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := And(words); got != want {
			t.Errorf("And(%q) = %q, want %q", words, got, want)
		}
	}
}
