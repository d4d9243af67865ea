package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"ken/internal/repo"
	"ken/internal/store/local"
	"ken/internal/store/storetest"
)

func TestOutlines(t *testing.T) {
	common := storetest.Dir(t)
	id := storetest.ID("x")
	for range 2 {
		o := local.OpenOutlines(common)
		if err := o.Save(t.Context(), "grammars/1", map[repo.ID][]byte{id: []byte("outline")}); err != nil {
			t.Fatal(err)
		}
		o.Close()
		got, err := o.Load(t.Context(), "grammars/1", []repo.ID{id, storetest.ID("y")})
		if err != nil || len(got) != 1 || string(got[id]) != "outline" {
			t.Errorf("Load returned %q, %v; want one outline", got, err)
		}
		if got, err := o.Load(t.Context(), "grammars/2", []repo.ID{id}); err != nil || len(got) != 0 {
			t.Errorf("outlines of another maker: %q, %v", got, err)
		}
		o.Close()
		// The file may be deleted at any time.
		if err := os.Remove(filepath.Join(common, "ken", "cache", "outlines.db")); err != nil {
			t.Fatal(err)
		}
	}
}
