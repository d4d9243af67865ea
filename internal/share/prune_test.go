package share

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/repo"
)

// What a later one followed goes first, outlines before texts, and nothing goes that
// need not.
func TestChoose(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	d := func(id byte, about, path string, outlined bool, when int) Dropped {
		return Dropped{Name: Name{id}, About: about, PathJSON: repo.Path(path).JSON(), outlined: outlined, At: at(when), Bytes: 10}
	}
	all := []Dropped{
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
		for _, g := range choose(all, room) {
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

// However much is let go, and whenever it was written, no text about a directory is kept
// without those below it that it stands on.
func TestChooseClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Dropped
		newest := make(map[repo.Path]Dropped)
		total := int64(0)
		for i := range rapid.IntRange(1, 40).Draw(t, "records") {
			path := repo.Path(rapid.StringMatching(`(|[ab](/[ab]){0,3})`).Draw(t, "path"))
			d := Dropped{
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
		for _, d := range choose(all, room) {
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

// Lists read back as they were written, and nothing else is one.
func TestLists(t *testing.T) {
	names := []Name{{1}, {2}, {2, 1}}
	got := make(map[Name]bool)
	if !decodeList(encodeList(names), got) || len(got) != 3 || !got[Name{2, 1}] {
		t.Error(got)
	}
	good := string(encodeList(names))
	for _, bad := range []string{"x", good[:64], good[65:130] + good[:65], good + good[130:], fmt.Sprintf("%064X\n", 10)} {
		if decodeList([]byte(bad), make(map[Name]bool)) {
			t.Errorf("%q is a list", bad)
		}
	}
}

func TestRelate(t *testing.T) {
	a, b, c := Name{1}, Name{2}, Name{3}
	for _, x := range []struct {
		one, two []Name
		want     relation
	}{
		{nil, nil, same},
		{[]Name{a}, []Name{a}, same},
		{nil, []Name{a}, older},
		{[]Name{a, b}, []Name{a}, newer},
		{[]Name{a, b}, []Name{a, c}, apart},
	} {
		if got := relate(x.one, x.two); got != x.want {
			t.Errorf("%v and %v: %v", x.one, x.two, got)
		}
	}
}
