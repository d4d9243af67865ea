package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Store is the store of a machine: it has rows and leases in addition to records.
type Store interface {
	store.Files
	store.Leases
	Log
}

// RunLeases runs the tests of leases, and of what records do to rows. Every call of open must return a new, empty
// store.
func RunLeases(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"an empty store has no leases", testNoLeases},
		{"leases are read unchanged", testLeases},
		{"a lease can be taken again only after it expired", testTake},
		{"one of many concurrent takes succeeds", testTakeAtOnce},
		{"settle adds the record and ends the lease, or neither", testSettle},
		{"one of many concurrent settles succeeds", testSettleAtOnce},
		{"pruning work trees removes their leases", testPruneLeases},
		{"added records make rows fresh", testAddRecordsUpdatesRows},
		{"a cancelled context stops everything", testLeasesCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// Lease returns a lease that expires so many seconds after Epoch.
func Lease(path repo.Path, token string, seconds int) store.Lease {
	return store.Lease{
		Path: path, Token: token, Expires: Epoch.Add(time.Duration(seconds) * time.Second),
		Basis: SurveyBasis(string(path)), Recipe: ModelRecipe,
	}
}

func wantLeases(t testing.TB, s store.Leases, worktree string, want ...store.Lease) {
	t.Helper()
	got, err := s.Leases(t.Context(), worktree)
	if err != nil {
		t.Fatalf("leases: %v", err)
	}
	byPath := make(map[repo.Path]store.Lease)
	for _, l := range want {
		byPath[l.Path] = l
	}
	equal(t, "leases of "+worktree, got, byPath)
}

// take takes a lease so many seconds after Epoch, which must be possible or not.
func take(t testing.TB, s store.Leases, worktree string, l store.Lease, seconds int, want bool) {
	t.Helper()
	ok, err := s.Acquire(t.Context(), worktree, l, Epoch.Add(time.Duration(seconds)*time.Second))
	if ok != want || err != nil {
		t.Errorf("take %s of %s at %d: %v, %v", l.Token, l.Path, seconds, ok, err)
	}
}

func settle(t testing.TB, s store.Leases, worktree string, l store.Lease, r *store.DirRecord, want bool) {
	t.Helper()
	ok, err := s.Complete(t.Context(), worktree, l, r)
	if ok != want || err != nil {
		t.Errorf("settle %s of %s: %v, %v", l.Token, l.Path, ok, err)
	}
}

func testNoLeases(t *testing.T, s Store) {
	wantLeases(t, s, "")
	settle(t, s, "", Lease("a", "token", 10), Directory("a", "x", 0), false)
	wantLatest(t, s, latest{})
}

func testLeases(t *testing.T, s Store) {
	full := store.Lease{
		Shown: fresh.Digest{1, 2, 3}, Holder: "ada \xff",
		Path: "dir/\xff\n", Token: "token", Expires: time.Date(2026, 5, 6, 7, 8, 9, 123456000, time.UTC), Recipe: ModelRecipe,
		Basis: store.DirBasis{Files: []store.BasisFile{{Name: []byte("\xff"), ID: ID256("x"), Shape: store.OutlineShape{Language: "go", Interface: fresh.Digest{1}, Tokens: fresh.Digest{2}}}}},
	}
	root := store.Lease{Path: "", Token: "other", Expires: Epoch, Holder: "bob"}
	take(t, s, "", full, 0, true)
	take(t, s, "", root, 0, true)
	take(t, s, "two\xff", Lease("a", "third", 5), 0, true)
	wantLeases(t, s, "", full, root)
	wantLeases(t, s, "two\xff", Lease("a", "third", 5))
	wantLeases(t, s, "three")
	wantLatest(t, s, latest{})
}

func testTake(t *testing.T, s Store) {
	take(t, s, "", Lease("a", "one", 10), 0, true)
	take(t, s, "", Lease("a", "two", 20), 9, false)
	wantLeases(t, s, "", Lease("a", "one", 10))
	// Other directories and other worktrees are free.
	take(t, s, "", Lease("b", "two", 20), 9, true)
	take(t, s, "tree", Lease("a", "two", 20), 9, true)
	// Its holder may take it again, for longer.
	take(t, s, "", Lease("a", "one", 15), 9, true)
	take(t, s, "", Lease("a", "two", 20), 14, false)
	// It ends when it expires.
	take(t, s, "", Lease("a", "two", 25), 15, true)
	take(t, s, "", Lease("a", "one", 30), 16, false)
	wantLeases(t, s, "", Lease("a", "two", 25), Lease("b", "two", 20))
	wantLeases(t, s, "tree", Lease("a", "two", 20))
}

// TakeAtOnce tries concurrently to take one lease several times with each store, at a time in seconds after Epoch.
// It returns the leases that were taken. The stores may be the same.
func TakeAtOnce(t testing.TB, path repo.Path, seconds int, stores ...store.Leases) (taken []store.Lease) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	begin := make(chan bool)
	for i, s := range stores {
		for k := range 4 {
			all.Go(func() {
				l := Lease(path, fmt.Sprintf("%d of %d at %d", k, i, seconds), seconds+10)
				<-begin
				ok, err := s.Acquire(t.Context(), "", l, Epoch.Add(time.Duration(seconds)*time.Second))
				if err != nil {
					t.Errorf("take: %v", err)
				}
				if ok {
					mu.Lock()
					defer mu.Unlock()
					taken = append(taken, l)
				}
			})
		}
	}
	close(begin)
	all.Wait()
	return taken
}

func testTakeAtOnce(t *testing.T, s Store) {
	for round := range 5 { // each time, the last has just expired
		taken := TakeAtOnce(t, "a", 10*round, s, s, s, s)
		if len(taken) != 1 {
			t.Fatalf("round %d: %d takes succeeded, want 1", round, len(taken))
		}
		wantLeases(t, s, "", taken[0])
	}
}

func testSettle(t *testing.T, s Store) {
	one, two := Lease("a", "one", 10), Lease("a", "two", 20)
	failed := store.DirFailure{Path: "a", Reason: "no", At: Epoch}
	if err := s.SaveFailure(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	take(t, s, "", one, 0, true)
	take(t, s, "", two, 10, true)
	take(t, s, "", Lease("b", "three", 20), 10, true)
	take(t, s, "tree", one, 10, true)

	settle(t, s, "", one, Directory("a", "too late", 11), false)
	wantLatest(t, s, latest{})
	wantFailures(t, s, failed)
	wantLeases(t, s, "", two, Lease("b", "three", 20))

	// An expired lease can be settled if no other one was taken.
	settle(t, s, "", two, Directory("a", "in time", 99), true)
	wantLatest(t, s, latest{"a": {Directory("a", "in time", 99)}})
	wantFailures(t, s)
	wantLeases(t, s, "", Lease("b", "three", 20))
	wantLeases(t, s, "tree", one)

	settle(t, s, "", two, Directory("a", "twice", 100), false)
	settle(t, s, "", Lease("b", "two", 20), Directory("b", "of another", 100), false)
	wantLatest(t, s, latest{"a": {Directory("a", "in time", 99)}})

	// Settling with an existing record ends the lease too.
	take(t, s, "", Lease("a", "four", 110), 100, true)
	settle(t, s, "", Lease("a", "four", 110), Directory("a", "in time", 99), true)
	wantLeases(t, s, "", Lease("b", "three", 20))
}

func testSettleAtOnce(t *testing.T, s Store) {
	l := Lease("a", "one", 10)
	take(t, s, "", l, 0, true)
	var done atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			ok, err := s.Complete(t.Context(), "", l, Directory("a", fmt.Sprint(i), i))
			if err != nil {
				t.Errorf("settle: %v", err)
			}
			if ok {
				done.Add(1)
			}
		})
	}
	all.Wait()
	got, err := s.Latest(t.Context())
	if done.Load() != 1 || err != nil || len(got["a"]) != 1 {
		t.Errorf("%d settles succeeded, want 1; latest: %v, %v", done.Load(), got, err)
	}
	wantLeases(t, s, "")
}

func testPruneLeases(t *testing.T, s Store) {
	for _, name := range []string{"", "two", "three"} {
		take(t, s, name, Lease("a", name, 10), 0, true)
	}
	SaveDirRecords(t, s, Directory("a", "x", 0))
	Commit(t, s, "", store.FileChanges{Worktrees: []string{"", "three"}})
	wantLeases(t, s, "", Lease("a", "", 10))
	wantLeases(t, s, "two")
	wantLeases(t, s, "three", Lease("a", "three", 10))
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a", "x")}})
	wantLeases(t, s, "three", Lease("a", "three", 10))
	wantLatest(t, s, latest{"a": {Directory("a", "x", 0)}})
}

func testAddRecordsUpdatesRows(t *testing.T, s Store) {
	Commit(t, s, "", store.FileChanges{Put: []store.FileRow{Row("a.go", "x"), Row("b.go", "y")}})
	AddRecords(t, s, ofFile(Record("about x", "x", 0)))
	tally, err := s.Counts(t.Context(), "")
	if err != nil || tally.Fresh != 1 || tally.None != 1 {
		t.Errorf("Counts returned %+v, %v; want 1 fresh and 1 without a summary", tally, err)
	}
}

func testLeasesCancelled(t *testing.T, s Store) {
	SaveDirRecords(t, s, Directory("a", "x", 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned the error %v; want the cancellation", what, err)
		}
	}
	_, err := s.Leases(ctx, "")
	check("leases", err)
	_, err = s.Acquire(ctx, "", Lease("a", "one", 10), Epoch)
	check("take", err)
	_, err = s.Complete(ctx, "", Lease("a", "one", 10), Directory("a", "y", 1))
	check("settle", err)
	wantLatest(t, s, latest{"a": {Directory("a", "x", 0)}})
	wantLeases(t, s, "")
}
