package fresh_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
)

func ids() *rapid.Generator[repo.ID] {
	return rapid.Custom(func(t *rapid.T) repo.ID {
		n := rapid.SampledFrom([]int{0, 20, 32}).Draw(t, "size")
		return repo.IDFromBytes(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "id"))
	})
}

func md5s() *rapid.Generator[repo.MD5] {
	return rapid.Custom(func(t *rapid.T) (m repo.MD5) {
		copy(m[:], rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "md5"))
		return m
	})
}

// A stamp is now, or just after the latest time that it displaces. This holds for all times.
func TestStampComesAfter(t *testing.T) {
	times := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns"))
	})
	rapid.Check(t, func(t *rapid.T) {
		now, displaced := times.Draw(t, "now"), rapid.SliceOf(times).Draw(t, "displaced")
		at := fresh.TimeAfter(now, displaced...)
		if at.Before(now.Truncate(time.Microsecond)) || at != at.Truncate(time.Microsecond) {
			t.Fatalf("the stamp is %v at %v: want a later time, in whole microseconds", at, now)
		}
		last := now
		for _, d := range displaced {
			if d = d.Truncate(time.Microsecond); !at.After(d) {
				t.Errorf("the stamp is %v, want a time after %v", at, d)
			}
			if d.After(last) {
				last = d
			}
		}
		if at.After(last.Add(time.Microsecond)) {
			t.Errorf("the stamp is %v, want at most a microsecond after %v", at, last)
		}
	})
}

// The zero state is unknown, and so is the verdict about unknown content.
func TestZeroIsUnknown(t *testing.T) {
	var s fresh.State
	if s != fresh.Unknown || s.String() != "unknown" {
		t.Errorf("the zero state is %s, want unknown", s)
	}
	basis := fresh.Basis{Content: repo.Content{MD5: repo.MD5{1}}}
	if got := fresh.Judge(basis, repo.Content{}); got != fresh.Unknown {
		t.Errorf("the verdict about unknown content is %s, want unknown", got)
	}
}

// A text is fresh for the content that it was written from, and for no other. If the basis has an id, the id decides.
func TestJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := repo.Content{ID: ids().Draw(t, "was"), MD5: md5s().Draw(t, "was md5")}
		now := repo.Content{ID: ids().Draw(t, "now"), MD5: md5s().Draw(t, "now md5")}
		if rapid.Bool().Draw(t, "same id") {
			now.ID = was.ID
		}
		if rapid.Bool().Draw(t, "same md5") {
			now.MD5 = was.MD5
		}
		want := fresh.Stale
		switch {
		case was == repo.Content{}:
			want = fresh.None
		case now == repo.Content{}:
			want = fresh.Unknown
		case !was.ID.IsZero() && was.ID == now.ID, was.ID.IsZero() && was.MD5 == now.MD5:
			want = fresh.Fresh
		}
		basis := fresh.Basis{Content: was}
		if got := fresh.Judge(basis, now); got != want {
			t.Fatalf("written from %v, now %v: %s, want %s", was, now, got, want)
		}
		if fresh.Judge(basis, now) != fresh.Judge(basis.Key(), now) {
			t.Fatal("Judge returned different verdicts for a basis and for its key")
		}
	})
}

// Two records have the same id only if all their fields are equal.
func TestRecordIDsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) fresh.Record {
			return fresh.Record{
				Text: rapid.StringN(0, 3, -1).Draw(t, name+" text"), Author: rapid.StringN(0, 2, -1).Draw(t, name+" author"),
				Recipe: rapid.StringN(0, 2, -1).Draw(t, name+" recipe"), Confirmer: rapid.StringN(0, 2, -1).Draw(t, name+" confirmer"),
				Basis: fresh.Basis{Content: repo.Content{ID: ids().Draw(t, name)}},
				At:    time.Unix(rapid.Int64Range(0, 3).Draw(t, name+" at"), 0),
			}
		}
		a, b := draw("a"), draw("b")
		same := a.Text == b.Text && a.Author == b.Author && a.Recipe == b.Recipe && a.Confirmer == b.Confirmer &&
			a.Basis == b.Basis && a.At.Equal(b.At)
		if (a.ID() == b.ID()) != same {
			t.Fatalf("%+v and %+v: ids equal %v", a, b, a.ID() == b.ID())
		}
		if (a.TextID() == b.TextID()) != (a.Text == b.Text) {
			t.Fatal("text ids are equal for different texts, or differ for equal ones")
		}
	})
}

// The id of a record never changes, since stores and shared records contain it.
func TestRecordIDsStay(t *testing.T) {
	r := fresh.Record{
		Text: "Serves the API.\xff\n", Author: "Ann <ann@example.org>", Recipe: "hand", Confirmer: "Bob", Assumed: true, Path: "a.go",
		At: time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC), Basis: fresh.Basis{Content: repo.Content{MD5: repo.MD5{1, 2, 3}}},
	}
	const want = "0a99ed3aeb24c7455749e7b18fbe9b901df0dd40de8f0b7e47edabc542b8de03"
	if got := r.ID().String(); got != want {
		t.Errorf("the id is %s, want %s", got, want)
	}
}
