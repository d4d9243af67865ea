package state

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkEntries lists KEN_BENCH_STATE, or 5,000 files made for the occasion.
func BenchmarkEntries(b *testing.B) {
	dir := os.Getenv("KEN_BENCH_STATE")
	if dir == "" {
		dir = b.TempDir()
		for i := range 5000 {
			if err := os.WriteFile(filepath.Join(dir, "review-lane-"+strconv.Itoa(i*7919%5000)+".md"), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	d, err := Open(dir, Options{Names: testNames})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if entries, err := d.Entries(b.Context()); err != nil || len(entries) < 5000 {
			b.Fatal(len(entries), err)
		}
	}
}
