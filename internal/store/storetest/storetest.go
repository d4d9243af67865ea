// Package storetest is the test suite of all stores.
//
// It tests the documented behaviour of [store.Files], [store.Directories], [store.Leases] and [store.Records]. The
// store of a machine implements all of them, and that of a team is only a [Log]. The package of each store tests the
// rest.
package storetest

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// Run runs the part of the suite that is about rows and the records of files. Every call of open returns a new, empty store.
func Run(t *testing.T, open func(t *testing.T) store.Files) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Files)
	}{
		{"an empty store returns nothing", testEmpty},
		{"an empty change changes nothing", testZeroChange},
		{"rows are read unchanged", testRows},
		{"rows come in byte order of their paths", testOrder},
		{"putting a row again replaces it", testReplace},
		{"deleting a row leaves the others", testDelete},
		{"a path both put and deleted is gone", testPutAndDelete},
		{"worktrees do not see each other's rows", testWorktreesApart},
		{"work trees that are not listed are pruned", testPrune},
		{"baselines are read unchanged", testBaseline},
		{"a baseline is set only if still returns true", testStill},
		{"a baseline is set only for its own generation", testGeneration},
		{"an error of still rolls back the commit", testStillFails},
		{"still is not called without a baseline", testStillUnasked},
		{"a record in the future is ignored", testAhead},
		{"records since a mark", testWrittenSince},
		{"a record with only an md5 makes rows with this md5 fresh", testMD5OnlyRows},
		{"a new record makes rows of every worktree fresh", testRecordsReachRows},
		{"a new row finds the record of its content", testPutFindsRecord},
		{"content that comes back is fresh again", testRestored},
		{"a row with a change that the policy ignores counts as fresh", testSpared},
		{"an older record does not replace a newer one", testOlderRecord},
		{"counts are right after every kind of change", testTally},
		{"many rows at once", testManyRows},
		{"a loop over rows may use the store", testReentrant},
		{"a loop over rows may stop", testBreak},
		{"a cancelled context stops everything", testCancelled},
		{"concurrent use", testConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("random changes have the same result as the reference", func(t *testing.T) { testModel(t, open) })
}

// Dir returns a new directory that every user can enter. It is in memory if possible, because the tests kill
// processes but do not cut the power.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ken-store-") //nolint:usetesting // in memory, and open to every user
	if err != nil {
		dir, err = os.MkdirTemp("", "ken-store-") //nolint:usetesting // likewise
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ID returns an id that depends on a text.
func ID(text string) repo.ID {
	sum := sha1.Sum([]byte(text))
	return repo.IDFromBytes(sum[:])
}

// ID256 returns a SHA-256 id.
func ID256(text string) repo.ID {
	sum := sha256.Sum256([]byte(text))
	return repo.IDFromBytes(sum[:])
}

// Content returns the content of a file that holds a text.
func Content(text string) repo.Content {
	return repo.Content{ID: ID(text), MD5: md5.Sum([]byte(text))}
}

// Row returns a row with every field filled.
func Row(path repo.Path, text string) store.FileRow {
	return store.FileRow{
		Path: path, Kind: repo.KindSource, Mode: repo.Regular, Content: Content(text),
		Stat: repo.Stat{Size: int64(len(text)), Mtime: 1_700_000_000_123_456_789, Ctime: -5, Inode: 1<<63 + 7},
	}
}

// Epoch is when the records of these tests begin.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Record returns a record about a text, written so many seconds after Epoch.
func Record(text, about string, seconds int) fresh.Record {
	return fresh.Record{
		Basis: fresh.Basis{Content: Content(about)},
		Text:  text, Author: "ann", Recipe: "hand", Path: "a.go",
		At: Epoch.Add(time.Duration(seconds) * time.Second),
	}
}

func basisOf(text string) fresh.Basis {
	return fresh.Basis{Content: repo.Content{ID: ID(text)}}
}

func md5Of(text string) fresh.Basis {
	return fresh.Basis{Content: repo.Content{MD5: md5.Sum([]byte(text))}}
}

// Commit commits a change, which must succeed.
func Commit(t testing.TB, s store.Files, worktree string, c store.FileChanges) {
	t.Helper()
	c = Current(t, s, worktree, c)
	if err := s.Commit(t.Context(), worktree, c, func() (bool, error) { return true, nil }); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// Current is c with its baseline, if it has one, made from the generation that
// the store is at.
func Current(t testing.TB, s store.Files, worktree string, c store.FileChanges) store.FileChanges {
	t.Helper()
	if c.Verification == nil {
		return c
	}
	now, _, err := s.LastVerification(t.Context(), worktree)
	if err != nil {
		t.Fatalf("baseline: %v", err)
	}
	next := *c.Verification
	next.Generation = now.Generation
	c.Verification = &next
	return c
}

// Rows returns a worktree's rows, which must be readable.
func Rows(t testing.TB, s store.Files, worktree string) []store.FileRow {
	t.Helper()
	var rows []store.FileRow
	for r, err := range s.Rows(t.Context(), worktree) {
		if err != nil {
			t.Fatalf("rows: %v", err)
		}
		rows = append(rows, r)
	}
	return rows
}

// equal fails the test unless a result of a store is as expected.
func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
