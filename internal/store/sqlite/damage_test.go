package sqlite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// flips is the number of damaged copies of the database.
const flips = 250

// With flipped bits in the file, the store returns a record unchanged, or not at all, or an error. It never
// returns a changed record or a record of another content.
func TestFlippedBits(t *testing.T) {
	clean := dbPath(t)
	s := open(t, clean)
	var files []fresh.Record
	var contents []repo.Content
	var rows []store.FileRow
	texts := make(map[fresh.Digest]fresh.Record)
	for i := range 40 {
		name := fmt.Sprint("file ", i)
		path := repo.Path(fmt.Sprintf("dir%d/%s.go", i%7, name))
		r := storetest.Record(strings.Repeat("What "+name+" does. ", 1+i%9), name, i)
		r.Path = path
		older := storetest.Record("An older text about "+name, name, i-100)
		older.Path = path
		files = append(files, r, older)
		contents = append(contents, storetest.Content(name))
		rows = append(rows, storetest.Row(path, name))
	}
	var directories []*store.DirRecord
	for i := range 40 {
		dir := repo.Path(fmt.Sprint("dir", i%20))
		about := fmt.Sprint("state ", i)
		d := storetest.Directory(dir, about, i)
		d.Flags = []store.DirFlag{{Path: dir + "/a.go", Severity: "concern", Finding: "it does too much"}}
		directories = append(directories, d, storetest.Outlined(dir, about, i))
	}
	storetest.Commit(t, s, "", store.FileChanges{Records: files, Put: rows})
	storetest.SaveDirRecords(t, s, directories...)
	for _, r := range files {
		texts[r.ID()] = r
	}
	kept := make(map[fresh.Digest]*store.DirRecord)
	var bases []fresh.Digest
	var dirs []repo.Path
	for _, d := range directories {
		kept[d.ID()] = d
		bases, dirs = append(bases, d.Basis.Digest()), append(dirs, d.Path)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(clean)
	if err != nil {
		t.Fatal(err)
	}

	const seed = 99
	random := rand.New(rand.NewPCG(seed, seed))
	var failed, unused int
	for n := range flips {
		damaged := append([]byte(nil), whole...)
		for range 1 + random.IntN(20) {
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		path := filepath.Join(storetest.Dir(t), "ken.db")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s := sqlite.Open(path, sqlite.Options{})
		file := func(what string, r fresh.Record) {
			want, ok := texts[r.ID()]
			if !ok || r.Text != want.Text || r.Author != want.Author || !r.At.Equal(want.At) || r.Basis.Key() != want.Basis.Key() {
				t.Errorf("seed %d, copy %d: %s has an unknown record: %+v", seed, n, what, r)
			}
		}
		directory := func(what string, list []*store.DirRecord) {
			for _, r := range list {
				want := kept[r.ID()]
				if want == nil || r.Text != want.Text || fmt.Sprint(r.Flags) != fmt.Sprint(want.Flags) || r.Basis.Digest() != want.Basis.Digest() {
					t.Errorf("seed %d, copy %d: %s has an unknown record: %+v", seed, n, what, r)
				}
			}
		}
		met := func(err error) {
			if err != nil {
				failed++
			}
		}
		newest, err := s.Newest(t.Context(), contents)
		met(err)
		for c, r := range newest {
			if file("newest", r); !r.Basis.Matches(c) {
				t.Errorf("seed %d, copy %d: the newest of %v was written from %v", seed, n, c, r.Basis)
			}
		}
		for _, c := range contents[:5] { // few contents use another query
			one, err := s.Newest(t.Context(), []repo.Content{c})
			met(err)
			for _, r := range one {
				if file("newest of one", r); !r.Basis.Matches(c) {
					t.Errorf("seed %d, copy %d: the newest of %v was written from %v", seed, n, c, r.Basis)
				}
			}
		}
		for _, r := range files[:10] {
			at, ok, err := s.NewestAt(t.Context(), r.Path)
			if met(err); ok {
				file("newest at", at)
			}
			if by, ok, err := s.Record(t.Context(), r.ID()); err == nil && ok && by.ID() != r.ID() {
				t.Errorf("seed %d, copy %d: the record with the id of %q has the text %q", seed, n, r.Text, by.Text)
			}
		}
		latest, err := s.Latest(t.Context())
		met(err)
		for _, list := range latest {
			directory("latest", list)
		}
		from, err := s.DirRecordsByBasis(t.Context(), bases)
		met(err)
		for basis, list := range from {
			directory("written from", list)
			for _, r := range list {
				if r.Basis.Digest() != basis {
					t.Errorf("seed %d, copy %d: a record for the basis %s has the basis %s", seed, n, basis, r.Basis.Digest())
				}
			}
		}
		of, err := s.PastDirRecords(t.Context(), dirs)
		met(err)
		for _, list := range of {
			directory("written of", list)
		}
		list, _, err := s.Since(t.Context(), "", 1000)
		met(err)
		for _, r := range list {
			if r.File != nil {
				file("since", *r.File)
			} else {
				directory("since", []*store.DirRecord{r.Directory})
			}
		}
		unused += len(s.Unused())
		_ = s.Close() // may fail on a damaged database
		if t.Failed() {
			return
		}
	}
	if failed == 0 || unused == 0 {
		t.Errorf("%d copies, %d errors and %d damaged records: the test is not effective", flips, failed, unused)
	}
	t.Logf("%d copies: %d answers were errors, %d records were found damaged", flips, failed, unused)
}

// The store finds the other records after a damaged one.
func TestDamagedRecordAmongOthers(t *testing.T) {
	name := dbPath(t)
	s := open(t, name)
	var records []fresh.Record
	var contents []repo.Content
	for _, about := range []string{"a", "b", "c"} {
		r := storetest.Record("text of "+about, about, 1)
		r.Path = repo.Path(about + ".go")
		records = append(records, r)
		contents = append(contents, storetest.Content(about))
	}
	storetest.Commit(t, s, "", store.FileChanges{Records: records})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.ReplaceAll(file, []byte("text of a"), []byte("TEXT of a"))
	if err := os.WriteFile(name, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	s = open(t, name)
	for range 10 { // the order in which they are read is random
		newest, err := s.Newest(t.Context(), contents)
		if err != nil {
			t.Fatalf("Newest fails because of one damaged record: %v", err)
		}
		if len(newest) != 2 || newest[contents[1]].Text != "text of b" || newest[contents[2]].Text != "text of c" {
			t.Fatalf("found %v, want the two records that are not damaged", newest)
		}
	}
}

// A record in the future is neither used nor removed, because the clock of this machine may be wrong.
func TestRecordInFutureIsNotRemoved(t *testing.T) {
	name := dbPath(t)
	s := open(t, name)
	r := storetest.Record("text", "x", 1)
	r.At = time.Now().Add(48 * time.Hour).UTC().Truncate(time.Microsecond)
	storetest.Commit(t, s, "", store.FileChanges{Records: []fresh.Record{r}})
	removed, err := s.RemoveUnused(t.Context())
	if err != nil || len(removed) > 0 {
		t.Errorf("removed %v (%v), want nothing", removed, err)
	}
	unused, err := s.CheckRecords(t.Context())
	if err != nil || len(unused) != 1 {
		t.Errorf("unused records: %v (%v), want the record in the future", unused, err)
	}
}
