//go:build unix

package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/storetest"
)

// lent returns a lease of the directory of a text.
func lent(text string) store.Lease {
	return storetest.Lease(repo.Path("dir/"+text), "token of "+text, 10)
}

func init() {
	// keeps stores a record of a directory, and reads it.
	verbs["keeps"] = func(s *local.Store, text string) error {
		if err := s.SaveDirRecords(context.Background(), []*store.DirRecord{storetest.Directory(lent(text).Path, text, 0)}); err != nil {
			return err
		}
		return knowsDirectory(s, text)
	}
	verbs["knows directory"] = func(s *local.Store, text string) error { return knowsDirectory(s, text) }
	// takes takes a lease, so that no other process can.
	verbs["takes"] = func(s *local.Store, text string) error {
		if ok, err := s.Acquire(context.Background(), "", lent(text), storetest.Epoch); !ok || err != nil {
			return fmt.Errorf("not taken: %v, %w", ok, err)
		}
		return isTaken(s, text)
	}
	verbs["is taken"] = func(s *local.Store, text string) error { return isTaken(s, text) }
	// settles settles the lease.
	verbs["settles"] = func(s *local.Store, text string) error {
		ok, err := s.Complete(context.Background(), "", lent(text), storetest.Directory(lent(text).Path, text, 0))
		if !ok || err != nil {
			return fmt.Errorf("not settled: %v, %w", ok, err)
		}
		return knowsDirectory(s, text)
	}
	// fails stores a failure, and reads it.
	verbs["fails"] = func(s *local.Store, text string) error {
		f := store.DirFailure{Path: lent(text).Path, Reason: text, At: storetest.Epoch}
		if err := s.SaveFailure(context.Background(), f); err != nil {
			return err
		}
		return hasFailed(s, text)
	}
	// outlines expects the outline of a text, or none for "", and cannot store another.
	verbs["outlines"] = func(s *local.Store, text string) error {
		o := local.OpenOutlines(filepath.Dir(filepath.Dir(s.Path())))
		defer o.Close()
		if err := o.Save(context.Background(), "m", map[repo.ID][]byte{storetest.ID("more"): []byte("more")}); err != nil {
			return err
		}
		got, err := o.Load(context.Background(), "m", []repo.ID{storetest.ID("more"), storetest.ID(text)})
		if want := min(1, len(text)); err != nil || len(got) != want || string(got[storetest.ID(text)]) != text {
			return fmt.Errorf("outlines: %q, %w", got, err)
		}
		return nil
	}
}

func knowsDirectory(s store.Directories, text string) error {
	latest, err := s.Latest(context.Background())
	if list := latest[lent(text).Path]; err != nil || len(list) != 1 || list[0].Text != "about "+text {
		return fmt.Errorf("no text about %s: %v, %w", text, list, err)
	}
	basis := storetest.SurveyBasis(text).Digest()
	written, err := s.DirRecordsByBasis(context.Background(), []fresh.Digest{basis})
	if err != nil || len(written[basis]) != 1 {
		return fmt.Errorf("nothing was written from %s: %v, %w", text, written, err)
	}
	return nil
}

// isTaken expects a lease that it cannot take.
func isTaken(s store.Leases, text string) error {
	held, err := s.Leases(context.Background(), "")
	if l := held[lent(text).Path]; err != nil || l.Token != lent(text).Token {
		return fmt.Errorf("%s is not taken: %v, %w", text, l, err)
	}
	other := lent(text)
	other.Token = "of another"
	if ok, err := s.Acquire(context.Background(), "", other, storetest.Epoch); ok || err != nil {
		return fmt.Errorf("%s is taken twice: %v, %w", text, ok, err)
	}
	return nil
}

func hasFailed(s store.Directories, text string) error {
	failed, err := s.Failures(context.Background())
	if err != nil || failed[lent(text).Path].Reason != text {
		return fmt.Errorf("%s has not failed: %v, %w", text, failed, err)
	}
	return nil
}

// Records of directories that a sandbox writes are visible there at once, and outside after the next read there.
func TestSurveyInReadOnlyGitDirectory(t *testing.T) {
	b := newSandbox(t)
	s := b.outside()
	check := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
	}
	check(verbs["keeps"](s, "one"), verbs["takes"](s, "two"))
	b.child("knows directory", "one")

	b.child("is taken", "two") // trying to take it makes the spool
	b.child("keeps", "three")
	b.child("fails", "four")
	b.child("knows directory", "one")
	if !b.pending() {
		t.Error("nothing is pending")
	}
	check(knowsDirectory(s, "three"), hasFailed(s, "four"), isTaken(s, "two"))
	if b.pending() {
		t.Error("the spool is still pending")
	}

	// An agent in the sandbox keeps its lease while another process merges the spool.
	b.child("takes", "five")
	check(isTaken(s, "five"))
	b.child("settles", "five")
	check(knowsDirectory(s, "five"))
	// An agent outside keeps its lease, whether or not the git directory is writable.
	b.child("settles", "two")
	check(knowsDirectory(s, "two"))
	b.merged()
}

// The same without a database.
func TestSurveyWithoutStore(t *testing.T) {
	b := newSandbox(t)
	b.child("takes", "one")
	b.child("settles", "one")
	if files := b.files(); files != "" {
		t.Errorf("the git directory has %s", files)
	}
	if err := knowsDirectory(b.outside(), "one"); err != nil {
		t.Error(err)
	}
}

// In a read-only directory, outlines are read if possible and not written. That is no error.
func TestOutlinesInReadOnlyGitDirectory(t *testing.T) {
	b := newSandbox(t)
	b.child("outlines", "")
	o := local.OpenOutlines(b.common)
	defer o.Close()
	if err := o.Save(t.Context(), "m", map[repo.ID][]byte{storetest.ID("x"): []byte("x")}); err != nil {
		t.Fatal(err)
	}
	b.child("outlines", "") // part of it is in a log
	o.Close()
	before := b.files()
	b.child("outlines", "x")
	if after := b.files(); after != before {
		t.Errorf("the git directory has\n%s\nhad\n%s", after, before)
	}
	if entries, err := os.ReadDir(b.state); err != nil || len(entries) > 0 {
		t.Errorf("the state directory has %v, %v; want nothing", entries, err)
	}
}
