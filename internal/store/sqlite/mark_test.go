package sqlite_test

import (
	"path/filepath"
	"testing"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// The mark changes with the data that a survey reads, and only then.
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
		if was, ok := seen[mark]; ok == moved {
			t.Errorf("after %s the mark is the same as after %q", after, was)
		}
		seen[mark] = after
	}
	if mark, err := s.SurveyMark(ctx, ""); err != nil || mark != "" {
		t.Fatalf("mark of an empty store: %v, %v", mark, err)
	}
	storetest.Commit(t, s, "", storetest.Current(t, s, "", store.FileChanges{
		Put: []store.FileRow{storetest.Row("a", "1")}, Verification: &store.Verification{Head: storetest.ID("h"), At: storetest.Epoch},
	}))
	look("rows", true)
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "2")}})
	look("another content", true)
	storetest.Commit(t, s, "two", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "3")}})
	look("rows of another worktree", false)
	for i, dir := range []repo.Path{"d", "e"} {
		if err := s.SaveDirRecords(ctx, []*store.DirRecord{storetest.Directory(dir, "text", i)}); err != nil {
			t.Fatal(err)
		}
		look("a record at "+string(dir), true)
	}
	if err := s.SaveDirRecords(ctx, []*store.DirRecord{storetest.Directory("d", "text", 0)}); err != nil {
		t.Fatal(err)
	}
	look("a record that was kept", false)
	if err := s.SaveFailure(ctx, store.DirFailure{Path: "f", Reason: "no", At: storetest.Epoch}); err != nil {
		t.Fatal(err)
	}
	look("a failure", true)
	storetest.Commit(t, s, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "4")}})
	look("other rows", true)
}
