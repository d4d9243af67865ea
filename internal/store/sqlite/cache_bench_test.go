package sqlite_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"ken/internal/repo"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// benchOutlines returns n bodies of a kilobyte, made in the given round.
func benchOutlines(n, round int) (bodies map[repo.ID][]byte, ids []repo.ID) {
	bodies = make(map[repo.ID][]byte, n)
	for i := range n {
		id := storetest.ID(fmt.Sprint(round, " ", i))
		bodies[id] = bytes.Repeat([]byte{byte(i)}, 1024)
		ids = append(ids, id)
	}
	return bodies, ids
}

// BenchmarkCache measures saving and loading the outlines of 10,000 files, in a cache that has those of other files.
func BenchmarkCache(b *testing.B) {
	const n = 10_000
	for _, others := range []int{0, 100_000} {
		path := filepath.Join(b.TempDir(), "outlines.db")
		c := sqlite.OpenCache(path, 1<<30)
		more, _ := benchOutlines(others, 0)
		if err := c.Save(b.Context(), "maker", more); err != nil {
			b.Fatal(err)
		}
		c.Close()
		round := 0
		b.Run(fmt.Sprintf("save-%d", others), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				round++
				bodies, _ := benchOutlines(n, round)
				c := sqlite.OpenCache(path, 1<<30)
				b.StartTimer()
				if err := c.Save(b.Context(), "maker", bodies); err != nil {
					b.Fatal(err)
				}
				c.Close()
			}
		})
		_, ids := benchOutlines(n, 1)
		b.Run(fmt.Sprintf("load-%d", others), func(b *testing.B) {
			for b.Loop() {
				c := sqlite.OpenCache(path, 1<<30)
				if found, err := c.Load(b.Context(), "maker", ids); err != nil || len(found) != n {
					b.Fatal(len(found), err)
				}
				c.Close()
			}
		})
	}
}
