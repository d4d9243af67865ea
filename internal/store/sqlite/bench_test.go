package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

const benchRows = 100_000

func benchData() (rows []store.FileRow, records []fresh.Record, contents []repo.Content) {
	for i := range benchRows {
		text := fmt.Sprint(i)
		p := repo.Path(fmt.Sprintf("pkg/component%03d/internal/module%02d/file_%05d.go", i/1000, i/100%10, i))
		rows = append(rows, storetest.Row(p, text))
		contents = append(contents, storetest.Content(text))
		r := storetest.Record("Package x does what its name says, and some more that takes a line or two to tell.", text, 0)
		r.Path = p
		records = append(records, r)
	}
	return rows, records, contents
}

// benchStore returns a store on a disk with a row for each of benchRows files,
// and a record for each if wanted.
func benchStore(b *testing.B, withRecords bool) (*sqlite.Store, []store.FileRow, []repo.Content) {
	b.Helper()
	rows, records, contents := benchData()
	s := open(b, filepath.Join(b.TempDir(), "ken.db"))
	c := store.FileChanges{Put: rows, Verification: &store.Verification{Head: storetest.ID("h")}}
	if withRecords {
		c.Records = records
	}
	storetest.Commit(b, s, "", c)
	return s, rows, contents
}

func BenchmarkBootstrap(b *testing.B) {
	rows, records, _ := benchData()
	for _, known := range []bool{false, true} {
		b.Run(fmt.Sprintf("known=%v", known), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := open(b, filepath.Join(b.TempDir(), "ken.db"))
				if known {
					storetest.Commit(b, s, "", store.FileChanges{Records: records})
				}
				b.StartTimer()
				storetest.Commit(b, s, "", store.FileChanges{Put: rows, Verification: &store.Verification{}})
			}
		})
	}
}

func BenchmarkRows(b *testing.B) {
	s, _, _ := benchStore(b, true)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range s.Rows(b.Context(), "") {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != benchRows {
			b.Fatal(n)
		}
	}
}

func BenchmarkCounts(b *testing.B) {
	s, _, _ := benchStore(b, false)
	for b.Loop() {
		if _, err := s.Counts(b.Context(), ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewestBases(b *testing.B) {
	s, _, contents := benchStore(b, true)
	for _, n := range []int{1, 1000, benchRows} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if known, err := s.NewestBases(b.Context(), contents[:n]); err != nil || len(known) != n {
					b.Fatal(len(known), err)
				}
			}
		})
		b.Run(fmt.Sprintf("newest-%d", n), func(b *testing.B) {
			for b.Loop() {
				if known, err := s.Newest(b.Context(), contents[:n]); err != nil || len(known) != n {
					b.Fatal(len(known), err)
				}
			}
		})
	}
}

// BenchmarkSummary measures the commit of `ken summary set` in a large repository.
func BenchmarkSummary(b *testing.B) {
	s, rows, _ := benchStore(b, false)
	i := 0
	for b.Loop() {
		i++
		text := fmt.Sprint(i % benchRows)
		r := storetest.Record(fmt.Sprint("again ", i), text, i)
		storetest.Commit(b, s, "", store.FileChanges{Records: []fresh.Record{r}, Put: rows[i%benchRows : i%benchRows+1]})
	}
}

// BenchmarkSwitch measures a branch switch that changes some files.
func BenchmarkSwitch(b *testing.B) {
	s, rows, _ := benchStore(b, false)
	for _, n := range []int{1, 1000, 5000, benchRows} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				storetest.Commit(b, s, "", store.FileChanges{Put: rows[:n], Verification: &store.Verification{}})
			}
		})
	}
}

// BenchmarkOpen measures a command with one query.
func BenchmarkOpen(b *testing.B) {
	s, _, _ := benchStore(b, false)
	path := s.Path()
	s.Close()
	for b.Loop() {
		s := sqlite.Open(path, sqlite.Options{})
		if _, ok, err := s.LastVerification(b.Context(), ""); !ok || err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
