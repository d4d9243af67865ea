// Package storetest is the one suite that every store passes.
//
// It knows what [store.Files], [store.Directories] and [store.Leases] promise, and
// nothing of how any store keeps it.
// What only one store can do wrong is tested beside that store.
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

// Run runs the part of the suite that is about the registry. Every call of open returns a new, empty store.
func Run(t *testing.T, open func(t *testing.T) store.Files) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Files)
	}{
		{"an empty store answers every question with nothing", testEmpty},
		{"a change that writes nothing changes nothing", testZeroChange},
		{"rows read back as they were put", testRows},
		{"rows come in byte order of their paths", testOrder},
		{"putting a row again replaces it", testReplace},
		{"deleting a row leaves the others", testDelete},
		{"a path both put and deleted is gone", testPutAndDelete},
		{"worktrees do not see each other's rows", testWorktreesApart},
		{"worktrees that are not listed are forgotten", testPrune},
		{"baselines read back as they were set", testBaseline},
		{"a baseline lands only if still says so", testStill},
		{"a baseline lands on no other generation than its own", testGeneration},
		{"an error of still undoes everything", testStillFails},
		{"still is not asked without a baseline", testStillUnasked},
		{"records read back as they were kept", testRecords},
		{"a record that is kept already changes nothing", testDuplicates},
		{"the newest record is the latest, then the one with the highest id", testNewest},
		{"a record that is dated ahead is as if not there", testAhead},
		{"records since a mark", testWrittenSince},
		{"a record for an md5 alone holds for every content with it", testMD5Only},
		{"ids decide where there is one", testIDsDecide},
		{"a new record makes rows of every worktree fresh", testRecordsReachRows},
		{"a row put with known content is about it", testPutFindsRecord},
		{"content that comes back is fresh again", testRestored},
		{"a row that is spared counts as fresh", testSpared},
		{"an older record does not displace a newer one", testOlderRecord},
		{"counts are right after every kind of change", testTally},
		{"many contents at once", testMany},
		{"a loop over rows may use the store", testReentrant},
		{"a loop over rows may stop", testBreak},
		{"a cancelled context stops everything", testCancelled},
		{"concurrent use", testConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("random changes leave what memory says", func(t *testing.T) { testModel(t, open) })
}

// Dir returns a new directory that every user may enter, in memory where there is
// such a place: these tests kill processes, not machines, and need no disk that
// remembers.
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

// ID returns the SHA-1 blob id of a text, as good as any.
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
	if c.Baseline == nil {
		return c
	}
	now, _, err := s.Baseline(t.Context(), worktree)
	if err != nil {
		t.Fatalf("baseline: %v", err)
	}
	next := *c.Baseline
	next.Generation = now.Generation
	c.Baseline = &next
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

// equal compares what a store returned with what it should have.
func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
