package sqlite_test

import (
	"fmt"
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

// benchDirectories returns a record about each of n directories, with five files and
// a child each, made in the given round.
func benchDirectories(n, round int) []*store.DirRecord {
	text := strings.Repeat("Package x does what its name says, and some more that takes a line to tell.\n", 6)
	list := make([]*store.DirRecord, n)
	for i := range list {
		r := &store.DirRecord{
			Path:   repo.Path(fmt.Sprintf("pkg/component%03d/internal/module%02d", i/100, i%100)),
			Text:   fmt.Sprintf("%s%d", text, i),
			Author: "ken outline", Recipe: storetest.OutlineRecipe, At: storetest.Epoch.Add(time.Duration(round)*time.Hour + time.Duration(i)*time.Millisecond),
		}
		for f := range 5 {
			name := fmt.Sprintf("file_%d_%d.go", i, f)
			id := storetest.ID256(fmt.Sprint(name, round)).Bytes()
			r.Basis.Files = append(r.Basis.Files, store.BasisFile{
				Name: []byte(name), ID: storetest.ID(fmt.Sprint(name, round)),
				Shape: store.OutlineShape{Language: "go", Interface: fresh.Digest(id), Tokens: fresh.Digest(id)},
			})
		}
		r.Basis.Children = []store.BasisChild{{Name: []byte("child"), Text: r.TextID()}}
		list[i] = r
	}
	return list
}

const benchDirs = 20_000

// BenchmarkLatest measures the start of a survey of 20,000 directories: it opens the store and reads their latest
// records. Each directory has several records.
func BenchmarkLatest(b *testing.B) {
	for _, times := range []int{1, 5} {
		b.Run(fmt.Sprint(times), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "ken.db"))
			for i := range times {
				storetest.SaveDirRecords(b, s, benchDirectories(benchDirs, i)...)
			}
			path := s.Path()
			s.Close()
			b.ReportAllocs()
			for b.Loop() {
				s := sqlite.Open(path, sqlite.Options{})
				if latest, err := s.Latest(b.Context()); err != nil || len(latest) != benchDirs {
					b.Fatal(len(latest), err)
				}
				s.Close()
			}
		})
	}
}

// BenchmarkSaveDirRecords measures SaveDirRecords with a batch of outlines.
func BenchmarkSaveDirRecords(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "ken.db"))
	storetest.SaveDirRecords(b, s, benchDirectories(benchDirs, 0)...)
	round := 0
	for b.Loop() {
		b.StopTimer()
		round++
		records := benchDirectories(512, round)
		b.StartTimer()
		storetest.SaveDirRecords(b, s, records...)
	}
}

// BenchmarkDirRecordsByBasis measures the search for records of moved directories.
func BenchmarkDirRecordsByBasis(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "ken.db"))
	records := benchDirectories(benchDirs, 0)
	storetest.SaveDirRecords(b, s, records...)
	var bases []fresh.Digest
	for _, r := range records {
		bases = append(bases, r.Basis.Digest())
	}
	for _, n := range []int{1, 1000, benchDirs} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if found, err := s.DirRecordsByBasis(b.Context(), bases[:n]); err != nil || len(found) != n {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
