package content_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ken/internal/content"
	"ken/internal/repo"
)

// benchTree returns a root and its entries in index order. The root is the repository in KEN_BENCH_ROOT, or
// a new tree of 5,000 small files.
func benchTree(b *testing.B) (string, []repo.Entry) {
	b.Helper()
	var entries []repo.Entry
	if root := os.Getenv("KEN_BENCH_ROOT"); root != "" {
		out, err := exec.CommandContext(b.Context(), "git", "-C", root, "ls-files", "-z").Output()
		if err != nil {
			b.Fatal(err)
		}
		for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
			entries = append(entries, repo.Entry{Path: repo.Path(name)})
		}
		return root, entries
	}
	root := b.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	text := bytes.Repeat([]byte("\tif err := req.Validate(); err != nil {\n\t\treturn nil, err\n\t}\n"), 300)
	for d := range 500 {
		dir := filepath.Join(fmt.Sprintf("pkg%02d", d/50), fmt.Sprintf("sub%03d", d))
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 10 {
			name := filepath.Join(dir, fmt.Sprintf("file%d.go", f))
			if err := os.WriteFile(filepath.Join(root, name), text[:2048+rnd.IntN(14<<10)], 0o644); err != nil {
				b.Fatal(err)
			}
			entries = append(entries, repo.Entry{Path: repo.Path(filepath.ToSlash(name))})
		}
	}
	return root, entries
}

func BenchmarkStat(b *testing.B) {
	root, entries := benchTree(b)
	tree := content.Open(root, content.Options{})
	b.ReportAllocs()
	for b.Loop() {
		found, err := tree.Stat(b.Context(), entries)
		if err != nil || found[len(found)-1].Presence != repo.RegularFile {
			b.Fatal(err, found[len(found)-1])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(entries)), "ns/file")
}

func BenchmarkRead(b *testing.B) {
	root, entries := benchTree(b)
	tree := content.Open(root, content.Options{})
	wants := make([]repo.ReadRequest, len(entries))
	for i, e := range entries {
		wants[i].Path = e.Path
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := tree.Read(b.Context(), wants)
		if err != nil || got[len(got)-1].Err != nil {
			b.Fatal(err, got[len(got)-1].Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(entries)), "ns/file")
}
