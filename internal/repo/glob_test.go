package repo_test

import (
	"strings"
	"testing"

	"ken/internal/repo"
)

// A glob that would take long to match is refused, with the limit.
func TestCheckGlob(t *testing.T) {
	for _, c := range []struct{ glob, want string }{
		{"**/*.go", ""},
		{"{a,b{c,d}}/[x-z]*", ""},
		{strings.Repeat("a", 1024), ""},
		{strings.Repeat("a", 1025), "more than 1024 bytes"},
		{strings.Repeat("{", 12000) + "a" + strings.Repeat("}", 12000), "more than 1024 bytes"},
		{strings.Repeat("{", 9) + "a" + strings.Repeat("}", 9), "more than 8 braces inside each other"},
		{strings.Repeat("{", 8) + "a" + strings.Repeat("}", 8), ""},
		{strings.Repeat("{a,b}", 9), "more than 256 alternatives"},
		{strings.Repeat("{a}", 65), "more than 64 braces"},
		{"[", "malformed"},
		{"{a", "malformed"},
	} {
		err := repo.CheckGlob(c.glob)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("CheckGlob(%.40q) is %v, want %q", c.glob, err, c.want)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("the error has %d bytes: it should quote the beginning of the glob only", len(err.Error()))
		}
	}
}
