package board

import (
	"testing"

	"ken/internal/fresh"
)

// The tile of what is too much to draw is as bad as the worst of it.
func TestTheRestIsAsBadAsTheWorstOfIt(t *testing.T) {
	tiles := []Tile{{Bytes: 9, State: fresh.Fresh}, {Bytes: 2, State: fresh.Fresh}, {Bytes: 1, State: fresh.Stale}, {Bytes: 1, State: fresh.Excluded}}
	got := layOut(tiles, Rect{W: 100, H: 100}, 2)
	if len(got) != 2 || !got[1].Rest || got[1].State != fresh.Stale || got[1].Bytes != 4 {
		t.Errorf("%+v", got)
	}
}
