package find

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A place that two phrasings find is before the first place of one, with the line of the phrasing that ranks it best.
func TestFuse(t *testing.T) {
	answer := func(query string, paths ...string) *Answer {
		a := &Answer{Query: query, At: "worktree", Unmatched: []string{"zebra"}, Unknown: []fault.Unknown{IndexBusy}}
		for i, p := range paths {
			a.Places = append(a.Places, Place{Path: repo.Path(p), Line: i + 1, Text: query})
		}
		return a
	}
	got := fuse([]*Answer{answer("one", "a", "both", "c"), answer("two", "d", "e", "both"), answer("three", "f")}, 3)
	var order []string
	for _, p := range got.Places {
		order = append(order, p.Path.String())
	}
	if diff := cmp.Diff([]string{"both", "a", "d"}, order); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if p := got.Places[0]; p.Line != 2 || p.Text != "one" {
		t.Errorf("the place of two phrasings is %+v; want that of the first phrasing", p)
	}
	if got.Query != "one | two | three" || strings.Join(got.Unmatched, " ") != "zebra" || len(got.Unknown) != 1 {
		t.Errorf("the answer repeats what its parts say, or misses it: %+v", got)
	}
	one := answer("one", "a")
	if fuse([]*Answer{one}, 3) != one {
		t.Error("the answer to one phrasing is not the answer")
	}
}
