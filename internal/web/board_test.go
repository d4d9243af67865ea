package web

import (
	"testing"

	"ken/internal/board"
)

func TestTallyText(t *testing.T) {
	for want, tally := range map[string]board.Tally{
		"":                             {Described: 3, Hold: 3},
		"1 more stale":                 {Described: 3, Hold: 2},
		"2 more stale":                 {Described: 3, Hold: 1},
		"2 more unknown":               {Described: 3, Hold: 1, Unknown: 2},
		"1 more stale; 1 more unknown": {Described: 3, Hold: 1, Unknown: 1},
	} {
		if got := tallyText(tally); got != want {
			t.Errorf("%+v: %q, want %q", tally, got, want)
		}
	}
}
