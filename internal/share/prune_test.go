package share

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/repo"
)

// A prune removes superseded records first, outlines before summaries, and no more than needed.
func TestChoose(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	d := func(id byte, about, path string, outlined bool, when int) PrunedRecord {
		return PrunedRecord{Name: Name{id}, About: about, PathJSON: repo.Path(path).JSON(), outlined: outlined, At: at(when), Bytes: 10}
	}
	all := []PrunedRecord{
		d(1, "file", "a", false, 1), d(2, "file", "a", false, 5),
		d(3, "directory", "a", false, 2), d(4, "directory", "a", true, 9),
		d(5, "directory", "b", true, 3), d(6, "directory", "b", true, 4),
		d(7, "directory", "a", false, 8), d(8, "file", "b", false, 0),
	}
	order := []byte{5, 1, 3, 6, 4, 7, 8, 2}
	for n := range len(all) + 1 {
		room := int64(10*(len(all)-n)) + 5
		if n == 0 {
			room = 80
		}
		var got []byte
		for _, g := range choosePruned(all, room) {
			got = append(got, g.Name[0])
			if g.Reason == "" {
				t.Errorf("no reason for %d", g.Name[0])
			}
		}
		if !slices.Equal(got, order[:n]) {
			t.Errorf("room for %d: %v, want %v", room, got, order[:n])
		}
	}
}

// A prune never keeps a summary of a directory without those of its subdirectories.
func TestChooseClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []PrunedRecord
		newest := make(map[repo.Path]PrunedRecord)
		total := int64(0)
		for i := range rapid.IntRange(1, 40).Draw(t, "records") {
			path := repo.Path(rapid.StringMatching(`(|[ab](/[ab]){0,3})`).Draw(t, "path"))
			d := PrunedRecord{
				Name: Name{byte(i)}, About: rapid.SampledFrom([]string{"file", "directory", "directory"}).Draw(t, "about"), PathJSON: path.JSON(),
				outlined: false, At: time.Unix(rapid.Int64Range(0, 9).Draw(t, "at"), 0), Bytes: rapid.Int64Range(1, 20).Draw(t, "bytes"),
			}
			d.outlined = d.About == aboutDirectory && rapid.Bool().Draw(t, "outlined")
			all, total = append(all, d), total+d.Bytes
			if last, ok := newest[path]; d.About == aboutDirectory && !d.outlined && (!ok || !d.At.Before(last.At)) {
				newest[path] = d
			}
		}
		room := rapid.Int64Range(0, total).Draw(t, "room")
		gone := make(map[Name]bool)
		left := total
		for _, d := range choosePruned(all, room) {
			gone[d.Name] = true
			left -= d.Bytes
		}
		if left > room {
			t.Fatalf("%d are left, and there is room for %d", left, room)
		}
		for above, kept := range newest {
			for below, d := range newest {
				if above != below && below.Under(above) && !gone[kept.Name] && gone[d.Name] {
					t.Fatalf("%q is kept without %q", above, below)
				}
			}
		}
	})
}
