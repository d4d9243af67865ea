package sqlite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// The rows in some directories are those of all rows that lie there, whatever sorts
// between them.
func TestRowsIn(t *testing.T) {
	s := sqlite.Open(filepath.Join(t.TempDir(), "ken.db"), sqlite.Options{})
	defer s.Close()
	var put []store.FileRow
	for _, p := range []repo.Path{"a", "a-b", "a.go", "a/b", "a/b-c", "a/c/d", "a/c/d/e", "a/c0", "a/z", "a0", "b/\xff", "b/\xff\xff/x", "b/c/d/e/f", "z"} {
		put = append(put, storetest.Row(p, "text"))
	}
	storetest.Commit(t, s, "", store.FileChanges{Put: put})
	storetest.Commit(t, s, "other", store.FileChanges{Put: put[:3]})
	dirs := []repo.Path{"", "a", "a/c", "b", "b/c", "b/c/d/e", "none", "a/c/d"}
	for _, dir := range dirs {
		got, err := s.RowsIn(t.Context(), "", []repo.Path{dir})
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(storetest.Rows(t, s, ""), func(r store.FileRow) bool { return r.Path.Dir() != dir })
		if !slices.Equal(got, want) {
			t.Errorf("rows in %q: %v, want %v", dir, got, want)
		}
	}
}

// Whatever a survey would find otherwise has another mark, and what it would not has the
// same; the latest of some directories are those of the latest of all.
func TestSurveyMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ken.db")
	s := sqlite.Open(path, sqlite.Options{})
	defer s.Close()
	ctx := t.Context()
	seen := make(map[string]string)
	look := func(after string, moved bool) {
		t.Helper()
		mark, err := s.SurveyMark(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		if was, ok := seen[mark.String()]; ok == moved {
			t.Errorf("after %s the mark is that after %q", after, was)
		}
		seen[mark.String()] = after
	}
	if mark, err := s.SurveyMark(ctx, ""); err != nil || !mark.IsZero() {
		t.Fatalf("mark of nothing: %v, %v", mark, err)
	}
	storetest.Commit(t, s, "", storetest.Current(t, s, "", store.FileChanges{
		Put: []store.FileRow{storetest.Row("a", "1")}, Baseline: &store.Verification{Head: storetest.ID("h"), At: storetest.Epoch},
	}))
	look("rows", true)
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "2")}})
	look("another content", true)
	storetest.Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "3")}})
	look("rows of another worktree", false)
	for i, dir := range []repo.Path{"d", "e"} {
		if err := s.Keep(ctx, []*store.DirRecord{storetest.Directory(dir, "text", i)}); err != nil {
			t.Fatal(err)
		}
		look("a record at "+string(dir), true)
	}
	if err := s.Keep(ctx, []*store.DirRecord{storetest.Directory("d", "text", 0)}); err != nil {
		t.Fatal(err)
	}
	look("a record that was kept", false)
	if err := s.KeepFailure(ctx, store.DirFailure{Path: "f", Reason: "no", At: storetest.Epoch}); err != nil {
		t.Fatal(err)
	}
	look("a failure", true)
	mine, other := storetest.Directory("d", "mine", 7), storetest.Directory("e", "other", 8)
	before, err := s.SurveyMark(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	after := func(done string, holds bool) {
		t.Helper()
		mark, err := s.SurveyMarkAfter(ctx, "", before, []*store.DirRecord{mine})
		if now, _ := s.SurveyMark(ctx, ""); err != nil || mark.IsZero() == holds || holds && mark.String() != now.String() {
			t.Errorf("after %s: %q, %v; now it is %q", done, mark, err, now)
		}
	}
	after("nothing", true)
	if err := s.Keep(ctx, []*store.DirRecord{mine}); err != nil {
		t.Fatal(err)
	}
	after("a record of ours", true)
	if err := s.Keep(ctx, []*store.DirRecord{other}); err != nil {
		t.Fatal(err)
	}
	after("a record of somebody else", false)
	if before, err = s.SurveyMark(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepFailure(ctx, store.DirFailure{Path: "g", Reason: "no", At: storetest.Epoch}); err != nil {
		t.Fatal(err)
	}
	after("a failure", false)
	if before, err = s.SurveyMark(ctx, ""); err != nil {
		t.Fatal(err)
	}
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "4")}})
	after("other rows", false)
	all, err := s.Latest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	some, err := s.LatestOf(ctx, []repo.Path{"e", "none"})
	if err != nil || len(some) != 1 || some["e"][0].ID() != all["e"][0].ID() {
		t.Errorf("latest of e: %v, %v", some, err)
	}
}
