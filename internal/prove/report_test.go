package prove

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
)

func id(t *testing.T, digit string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(strings.Repeat(digit, 40))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func file(t *testing.T, digit string, size int64) File {
	t.Helper()
	return File{ID: id(t, digit), Size: size, Counts: true}
}

// One commit by hand: 400 bytes of a file change, beside 40,000 of another, of which no
// more than 32 KiB would be read.
func TestReplayByHand(t *testing.T) {
	h := History{
		Before: []Entry{{"a/x.go", file(t, "1", 400)}, {"a/y.go", file(t, "2", 40_000)}, {"z.md", file(t, "3", 80)}},
		Commits: []Commit{
			{Subject: "one", Changes: []Change{{Path: "a/x.go", Old: file(t, "1", 400), New: file(t, "4", 800), Grade: fresh.GradeBody}}},
			{Subject: "back", Changes: []Change{{Path: "a/x.go", Old: file(t, "4", 800), New: file(t, "1", 400), Grade: fresh.GradeBody}}},
			{Subject: "spaces", Changes: []Change{{Path: "a/x.go", Old: file(t, "1", 400), New: file(t, "5", 404), Grade: fresh.GradeFormat}}},
			{Subject: "nothing"},
		},
	}
	r := Replay(h, Options{Assumed: assumed})
	one := Outcome{
		Subject: "one", Texts: 5, Grades: Grades{Body: 1}, StaleFiles: 1, ByByte: 1, StaleSelf: 1, StaleBelow: 1,
		// a: rules and answer, its old text, y's text, x read and written about;
		// the root: the same, its file, which is shorter than a text, and its child.
		Refresh: 1200 + 150 + 150 + 200 + 150 + 1200 + 150 + 20 + 150,
		Above:   1200 + 150 + 20 + 150,
		Reread:  1200 + 150 + 200 + 150 + 8192 + 1200 + 150 + 20 + 150,
		Briefs:  1500, Touched: 100, Neighbours: 8192,
	}
	if got := r.History[0]; got != one {
		t.Errorf("one\n got %+v\nwant %+v", got, one)
	}
	for i, name := range []string{"back", "spaces", "nothing"} {
		if got := r.History[i+1]; !got.Valid() || got.Refresh != 0 || got.Briefs != 1500 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if r.Commits.Valid != 3 || r.Commits.Replayed != 4 || r.Commits.Lost != 1 {
		t.Errorf("commits: %+v", r.Commits)
	}
	n := r.Net
	if n.Briefs != 6000 || n.Neighbours != 3*8192 || n.Outline.All != 3*8192-6000 || n.Outline.None != -6000 || *n.Outline.Even != 25 {
		t.Errorf("net: %+v", n)
	}
	if n.Model.All != n.Outline.All-one.Refresh || *n.Reread.Even != 71 {
		t.Errorf("net: %+v, %d%%", n, *n.Reread.Even)
	}
	if r.Worst[0].Subject != "nothing" || len(r.Worst) != 4 {
		t.Errorf("worst: %+v", r.Worst)
	}
}

// What cannot be known is in no figure, and never taken for good news.
func TestUnknownIsNoGoodNews(t *testing.T) {
	gone := File{ID: id(t, "6"), Counts: true, Absent: true}
	r := Replay(History{
		Before: []Entry{{"a/x.go", gone}, {"b/y.go", file(t, "1", 400)}},
		Commits: []Commit{
			{Changes: []Change{{Path: "b/y.go", Old: file(t, "1", 400), New: file(t, "2", 400), Grade: fresh.GradeBody}}},
			{Changes: []Change{{Path: "a/z.go", New: file(t, "3", 400)}}},
			{Changes: []Change{{Path: "a/x.go", Old: gone}}},
		},
	}, Options{Assumed: assumed})
	if c := r.Commits; c.Replayed != 1 || c.Unknown != 2 || c.Valid != 0 || len(r.Worst) != 1 {
		t.Errorf("%+v", c)
	}
	if r.Spreads.StaleSelf.Total != 1 || r.Net.Briefs != 1500 {
		t.Errorf("%+v", r.Spreads)
	}
}

func TestSpread(t *testing.T) {
	var list []Outcome
	for i := 1; i <= 10; i++ {
		list = append(list, Outcome{StaleFiles: i}, Outcome{StaleFiles: 1000, Unknown: true})
	}
	of := func(o *Outcome) int64 { return int64(o.StaleFiles) }
	if got := spread(list, of); got != (Spread{5, 9, 10, 55}) {
		t.Error(got)
	}
	if got := spread(list[:1], of); got != (Spread{1, 1, 1, 1}) {
		t.Error(got)
	}
	if got := spread(list[1:2], of); got != (Spread{}) {
		t.Error(got)
	}
}

// A plot is XML whatever commits are called, and the same each time.
func TestPlot(t *testing.T) {
	for _, n := range []int{0, 1, 3, 700} {
		h := History{}
		for i := range n {
			h.Commits = append(h.Commits, Commit{
				Subject: "</title><script>\x00\x1b \xff & \u202e",
				Changes: []Change{{Path: "x", New: File{ID: id(t, string("123456789"[i%9])), Counts: true, Absent: i%5 == 4}}},
			})
		}
		r := Replay(h, Options{Assumed: assumed})
		var first, second bytes.Buffer
		if err := errors.Join(Plot(&first, r), Plot(&second, r)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%d commits: two plots differ", n)
		}
		if bytes.Contains(first.Bytes(), []byte("<script")) {
			t.Errorf("%d commits: a subject became markup", n)
		}
		if first.Len() > 200_000 {
			t.Errorf("%d commits: %d bytes", n, first.Len())
		}
		for d := xml.NewDecoder(&first); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%d commits: %v", n, err)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for top, want := range map[int64]int64{1: 1, 5: 1, 6: 2, 27: 5, 28: 5, 54_000_000: 10_000_000} {
		if got := tick(top); got != want {
			t.Errorf("tick(%d) = %d, want %d", top, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 9_999: "9999", 12_600: "13k", 1_000_000: "1M", 5_620_000: "5.6M", 53_884_152: "54M", 20_000_000_000: "20G"} {
		if got := short(n); got != want {
			t.Errorf("short(%d) = %s, want %s", n, got, want)
		}
	}
}
