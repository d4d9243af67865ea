package searchindex_test

import (
	"fmt"
	"slices"
	"testing"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

// All edges of a file are one link. It is exact if one of them is, and exact links come first.
func TestLinks(t *testing.T) {
	edges := []searchindex.Edge{
		{From: "likely.go", To: "a.go", Symbol: "A", Lines: []int{1, 2, 3}},
		{From: "few.go", To: "a.go", Symbol: "A", Lines: []int{7}, Exact: true},
		{From: "many.go", To: "a.go", Symbol: "A", Lines: []int{9, 4}, Exact: true},
		{From: "many.go", To: "a.go", Symbol: "B", Lines: []int{4, 5}, More: 3},
	}
	var got []string
	for _, l := range searchindex.Links(edges, func(e searchindex.Edge) repo.Path { return e.From }) {
		got = append(got, fmt.Sprintf("%s %v %v %d %v %d", l.Other, l.Symbols, l.Lines, l.Places, l.Exact, len(l.Edges)))
	}
	want := []string{"many.go [B A] [4 5 9] 7 true 2", "few.go [A] [7] 1 true 1", "likely.go [A] [1 2 3] 3 false 1"}
	if !slices.Equal(got, want) {
		t.Errorf("the links are\n%q\nwant\n%q", got, want)
	}
}
