package share

import (
	"fmt"
	"slices"
	"testing"
	"time"

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
	order := []byte{5, 1, 3, 6, 4, 8, 2, 7}
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
