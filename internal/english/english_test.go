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

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		words       []string
		first, full string
	}{
		{nil, "", ""},
		{[]string{"a", "b"}, "a, b", "a, b"},
		{[]string{"a", "b", "c"}, "a, b and 1 more", "a, b, c"},
		{[]string{"a", "b", "c", "d"}, "a, b and 2 more", "a, b and 2 more"},
	} {
		if got := First(c.words, 2); got != c.first {
			t.Errorf("First(%q, 2) = %q, want %q", c.words, got, c.first)
		}
		if got := FirstOrAll(c.words, 2); got != c.full {
			t.Errorf("FirstOrAll(%q, 2) = %q, want %q", c.words, got, c.full)
		}
	}
}
