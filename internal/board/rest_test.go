package board

import (
	"testing"

	"ken/internal/fresh"
)

// The tile for everything too small to show has the worst state of its entries.
func TestRestTileHasWorstState(t *testing.T) {
	tiles := []Tile{{Bytes: 9, State: fresh.Fresh}, {Bytes: 2, State: fresh.Fresh}, {Bytes: 1, State: fresh.Stale}, {Bytes: 1, State: fresh.Excluded}}
	got := layOut(tiles, Rect{W: 100, H: 100}, 2)
	if len(got) != 2 || !got[1].Rest || got[1].State != fresh.Stale || got[1].Bytes != 4 {
		t.Errorf("layOut returned %+v; want 2 tiles, the second a stale rest tile of 4 bytes", got)
	}
}
