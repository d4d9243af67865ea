package local_test

import (
	"path/filepath"
	"testing"

	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Files {
		t.Helper()
		return open(t)
	})
	storetest.RunLeases(t, func(t *testing.T) storetest.Store {
		t.Helper()
		return open(t)
	})
	storetest.RunLog(t, func(t *testing.T) storetest.Log {
		t.Helper()
		return open(t)
	})
}

func open(t *testing.T) *local.Store {
	t.Helper()
	dir := storetest.Dir(t)
	s := local.Open(local.Options{CommonDir: dir, StateDir: filepath.Join(dir, "state")})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if note := s.Note(); note != "" {
			t.Errorf("the store has the note %q; want none", note)
		}
	})
	return s
}
