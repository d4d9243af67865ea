package searchindex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ken/internal/repo"
)

func put(t *testing.T, x *Index, paths ...repo.Path) {
	t.Helper()
	err := x.Update(t.Context(), func(w *Writer) error {
		for _, p := range paths {
			if err := w.Put(Document{Path: p, Text: "some words", Kind: repo.KindSource}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, x *Index) int {
	t.Helper()
	files, err := x.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func open(t *testing.T, file string) *Index {
	t.Helper()
	x, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestOpenKeepsWhatWasStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache", "search.db")
	x, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, x, "a", "b")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y := open(t, file)
	if n := count(t, y); n != 2 || y.Temporary {
		t.Errorf("expected 2 stored files, found %d (temporary: %t)", n, y.Temporary)
	}
}

func TestOpenMakesADamagedIndexAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	if err := os.WriteFile(file, []byte("this is not a database, but it is long enough to look like one"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, file)
	put(t, x, "a")
	if n := count(t, x); n != 1 || x.Temporary {
		t.Errorf("expected a new index with 1 file, found %d (temporary: %t)", n, x.Temporary)
	}
}

func TestOpenInMemoryWhereNothingCanBeWritten(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, filepath.Join(blocked, "search.db"))
	put(t, x, "a")
	if n := count(t, x); n != 1 || !x.Temporary {
		t.Errorf("expected a temporary index with 1 file, found %d (temporary: %t)", n, x.Temporary)
	}
}

func TestUpdateDoesNotWaitForAnotherWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.db")
	x, y := open(t, file), open(t, file)
	put(t, x, "a")
	err := x.Update(t.Context(), func(w *Writer) error {
		err := y.Update(t.Context(), func(*Writer) error { return nil })
		if !errors.Is(err, ErrBusy) {
			t.Errorf("expected ErrBusy for the second writer, found %v", err)
		}
		if n := count(t, y); n != 1 {
			t.Errorf("expected a reader to see 1 file meanwhile, found %d", n)
		}
		return w.Put(Document{Path: "b"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, y); n != 2 {
		t.Errorf("expected 2 files after the update, found %d", n)
	}
}

func TestTryLeavesNothingBehind(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search.db"))
	put(t, x, "a")
	err := x.Try(t.Context(), func(w *Writer) error {
		if err := w.Put(Document{Path: "b"}); err != nil {
			return err
		}
		if n := count(t, w.Index); n != 2 {
			t.Errorf("expected 2 files inside the trial, found %d", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, x); n != 1 {
		t.Errorf("expected 1 file after the trial, found %d", n)
	}
}

func TestUpdateEndsWithItsContext(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search.db"))
	ctx, cancel := context.WithCancel(t.Context())
	err := x.Update(ctx, func(w *Writer) error {
		cancel()
		for {
			if err := w.Put(Document{Path: "a"}); err != nil {
				return err
			}
		}
	})
	if err == nil {
		t.Error("expected an error after the context ended")
	}
	put(t, x, "c")
	if n := count(t, x); n != 1 {
		t.Errorf("expected only the file of the second update, found %d", n)
	}
}
