package web

import (
	"testing"

	"ken/internal/board"
	"ken/internal/find"
)

// While a search builds the index, others return late and do not queue behind it. The same
// query gets the answer when it is ready.
func TestSearchDoesNotWaitForIndex(t *testing.T) {
	release := make(chan struct{})
	calls := 0
	s := newServer(t)
	s.searches.find = func(_ string, q find.Query) (*find.Answer, error) {
		calls++
		<-release
		return &find.Answer{Query: q.Words[0]}, nil
	}
	for _, word := range []string{"one", "two", "one"} {
		if answer, late, err := s.search(t.Context(), "w", find.Query{Words: []string{word}}); !late || answer != nil || err != nil {
			t.Fatalf("%s: %+v, late %t, %v; want late", word, answer, late, err)
		}
	}
	close(release)
	s.boards.wait()
	if calls != 1 {
		t.Errorf("%d searches ran while the first one built the index, want 1", calls)
	}
	for _, word := range []string{"one", "two"} {
		if answer, late, err := s.search(t.Context(), "w", find.Query{Words: []string{word}}); late || err != nil || answer.Query != word {
			t.Errorf("searching for %s returned %+v, late %t, %v; want its own answer in time", word, answer, late, err)
		}
	}
}

// Names that begin with the query come before other matches, and nothing is listed twice.
func TestFindRowsOrder(t *testing.T) {
	f := &pageData{Here: true, Tree: &board.Worktree{
		Files: board.Part[board.Files]{Known: &board.Files{MapFiles: []board.MapFile{{Path: "a/parse/x.go"}, {Path: "deep/down/parse.go"}, {Path: "parse.go"}}}},
		Spec:  board.Part[board.Spec]{Known: &board.Spec{}},
	}}
	places := []find.Place{{Path: "lex.go", Line: 4, Symbols: []find.Symbol{{Name: "parseAll", Line: 3}}}, {Path: "parse.go"}}
	var got []string
	for _, r := range f.findRows([]string{"Parse"}, places) {
		got = append(got, r.Kind+" "+r.Href)
	}
	want := []string{"file /file?path=parse.go", "file /file?path=deep%2Fdown%2Fparse.go", "symbol /file?line=3&path=lex.go", "file /file?path=a%2Fparse%2Fx.go"}
	if len(got) != len(want) {
		t.Fatalf("the rows are %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
}
