package e2e

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ken/internal/testrepo"
)

// ken notices every write that keeps the size of a file and happens in the same clock tick as
// the check before it.
func TestSameTickWrites(t *testing.T) {
	r := testrepo.New(t)
	name := filepath.Join(r.Dir, "a.go")
	write := func(n int) (sum string) {
		content := fmt.Appendf(nil, "package a // %06d\n", n)
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", md5.Sum(content))
	}
	write(0)
	r.Commit("first")
	mustKen(t, r, "verify")
	for n := 1; n <= 40; n++ {
		want := write(n)
		if n%4 == 0 {
			r.Git("add", "a.go") // the index, too, is written in that tick
			want = write(n + 1000)
		}
		rep := decode[report](t, mustKen(t, r, "verify", "--json", "--all"))
		if got := rep.Verdicts[0].MD5; got != want {
			t.Fatalf("write %d: md5 %s, want %s", n, got, want)
		}
	}
}
