package git

import (
	"testing"

	"ken/internal/repo"
)

const (
	one  = "1111111111111111111111111111111111111111"
	zero = "0000000000000000000000000000000000000000"
)

func FuzzCheckAttr(f *testing.F) {
	full := ""
	for _, name := range attributeNames {
		full += "a\x00" + name + "\x00unspecified\x00"
	}
	f.Add(full)
	f.Add("a\x00text\x00set\x00")
	f.Fuzz(func(t *testing.T, out string) {
		list, err := parseCheckAttr(out, []repo.Path{"a"})
		if err == nil {
			list[0].evaluate(true)
			list[0].evaluate(false)
		}
	})
}

// parsePaths returns no empty path, and its result joined with NULs is the input.
func FuzzPaths(f *testing.F) {
	f.Add("a\x00b\nc\x00")
	f.Add("a")
	f.Fuzz(func(t *testing.T, out string) {
		paths, err := parsePaths("x", out)
		if err != nil {
			return
		}
		back := ""
		for _, p := range paths {
			if p == "" {
				t.Fatal("parsePaths returned an empty path")
			}
			back += string(p) + "\x00"
		}
		if back != out {
			t.Fatalf("%q became %q", out, back)
		}
	})
}

func FuzzBatchCheck(f *testing.F) {
	f.Add(one + " tree\n")
	f.Add(one + "^{tree} missing\n")
	f.Add(zero + " tree\n")
	f.Add("x ambiguous\n")
	f.Fuzz(func(t *testing.T, out string) {
		if id, ok, err := parseBatchCheck(out); ok != !id.IsZero() || ok && err != nil {
			t.Fatalf("parseBatchCheck(%q) returned %s, %t, %v; want an id exactly if ok", out, id, ok, err)
		}
	})
}

func FuzzCounts(f *testing.F) {
	f.Add("1\t2\n")
	f.Add("x")
	f.Fuzz(func(t *testing.T, out string) {
		if l, r, err := parseCounts(out); err == nil && (l < 0 || r < 0) {
			t.Fatalf("parseCounts(%q) returned %d, %d; want no negative number", out, l, r)
		}
	})
}
