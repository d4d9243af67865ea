package outline

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ken/internal/repo"
)

// BenchmarkParse measures Parse without the loading of the grammar.
func BenchmarkParse(b *testing.B) {
	for _, s := range samples(b) {
		b.Run(string(s.path), func(b *testing.B) { benchmark(b, []sample{s}) })
	}
}

// BenchmarkCode reads the files below KEN_CODE, up to a megabyte of each language.
//
//	KEN_CODE=~/src go test -run '^$' -bench Code ./internal/outline
func BenchmarkCode(b *testing.B) {
	dir := os.Getenv("KEN_CODE")
	if dir == "" {
		b.Skip("KEN_CODE names no directory")
	}
	byLang := make(map[Language][]sample)
	sizes := make(map[Language]int)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		lang := LanguageOf(repo.Path(filepath.ToSlash(name)), nil)
		if lang == Unknown || sizes[lang] > 1<<20 || !d.Type().IsRegular() {
			return nil
		}
		src, err := os.ReadFile(name)
		byLang[lang] = append(byLang[lang], sample{repo.Path(filepath.ToSlash(name)), src})
		sizes[lang] += len(src)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, lang := range languages() {
		if len(byLang[lang]) > 0 {
			b.Run(string(lang), func(b *testing.B) { benchmark(b, byLang[lang]) })
		}
	}
}

func benchmark(b *testing.B, files []sample) {
	b.Helper()
	size := 0
	for _, s := range files {
		size += len(s.src)
	}
	if _, err := Parse(files[0].path, files[0].src); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range files {
			_, _ = Parse(s.path, s.src) // binary files have no outline
		}
	}
}

func languages() []Language {
	return []Language{Bash, C, CPP, CSharp, Go, Java, JavaScript, Markdown, PHP, Python, Ruby, Rust, TSX, TypeScript}
}
