package git

import (
	"math/rand/v2"
	"os"
	"testing"

	"ken/internal/testrepo"
)

// A damaged or missing cache does not change the history.
func TestHistoryCorrupted(t *testing.T) {
	r := testrepo.New(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	ids := randomHistory(t, r, rnd, 30)
	want := readHistory(t, r, ids...)
	r.Remove(".git/ken/cache/history")
	write := func(name, text string) { r.Write(".git/ken/cache/history/"+name, text) }
	read := func(name string) string { return r.Read(".git/ken/cache/history/" + name) }
	readHistory(t, r, ids[:20]...)
	one := read("base")
	readHistory(t, r, ids...)
	base, tail := read("base"), read("tail")
	if base != one {
		t.Fatal("adding commits changed the base file, want only a tail")
	}
	for _, name := range []string{"base", "tail"} {
		whole := map[string]string{"base": base, "tail": tail}
		for range 20 {
			write("base", base)
			write("tail", tail)
			bad := []byte(whole[name])
			switch rnd.IntN(3) {
			case 0:
				bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			case 1:
				bad = bad[:rnd.IntN(len(bad))]
			default:
				bad = []byte(whole[map[string]string{"base": "tail", "tail": "base"}[name]])
			}
			write(name, string(bad))
			if d := differ(want, readHistory(t, r, ids...)); d != "" {
				t.Fatalf("with a damaged file %s the history differs: %s", name, d)
			}
		}
	}
	// Files of another repository are ignored, too.
	other := testrepo.New(t)
	other.Write("a", "b")
	other.Commit("c")
	readHistory(t, other, headOf(t, other, "HEAD"))
	write("base", other.Read(".git/ken/cache/history/base"))
	if h := readHistory(t, r, ids...); len(h.Missing(ids)) > 0 {
		t.Error("with the base of another repository, commits are missing")
	}
	if err := os.RemoveAll(r.Path(".git/ken")); err != nil {
		t.Fatal(err)
	}
	if d := differ(want, readHistory(t, r, ids...)); d != "" {
		t.Errorf("the history differs without the cache: %s", d)
	}
}
