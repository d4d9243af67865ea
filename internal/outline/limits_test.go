package outline

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"ken/internal/repo"
)

// A file that is too large, binary or in an unknown language has no outline. The error gives the reason.
func TestNoOutline(t *testing.T) {
	for name, c := range map[string]struct {
		path repo.Path
		src  string
		why  string
	}{
		"unknown": {"a.xyz", "x", "no grammar"},
		"large":   {"a.go", "package a\n" + strings.Repeat("\n", MaxBytes), "more than"},
		"binary":  {"a.c", "int\x00", "not text"},
		"utf-16":  {"a.js", "\xff\xfea\x00b\x00", "not text"},
	} {
		o, err := Parse(c.path, []byte(c.src))
		if o != nil || !errors.Is(err, ErrNone) || !strings.Contains(fmt.Sprint(err), c.why) {
			t.Errorf("%s: %v, %v; want no outline, since %q", name, o, err, c.why)
		}
	}
}

// Reading a document of links takes space in proportion to its size.
func TestManyLinks(t *testing.T) {
	const most = 1 << 30
	for _, src := range []string{
		strings.Repeat("[[", 80_000) + strings.Repeat("](b)", 80_000),
		"# h\n\n" + strings.Repeat("![[", 80_000) + strings.Repeat("a](b)", 80_000),
		strings.Repeat("[a](b)", 80_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Parse("a.md", []byte(src)); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%.10q…, %d bytes, took %d bytes, want at most %d", src, len(src), n, most)
		}
	}
}

// Machines with many processors parse few large files at once, since each takes much memory.
func TestLargeFilesTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(12))
	text := []byte(strings.Repeat("a ", 500_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			if _, err := Parse("a.md", text); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	runtime.ReadMemStats(&after)
	if grown := (after.HeapSys - before.HeapSys) >> 20; grown > 1000 {
		t.Errorf("parsing 12 documents of 1 MB at once took %d MB", grown)
	}
}

// A deeply nested file has an outline or an error, but no crash.
func TestNesting(t *testing.T) {
	size := 10_000
	if os.Getenv("KEN_CORPUS") != "" {
		size = 200_000
	}
	for _, path := range []repo.Path{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.rs", "A.java", "a.c", "a.cc", "A.cs", "a.rb", "a.php", "a.sh", "a.md"} {
		for _, open := range []string{"(", "[", "{", "if(", "a(b[", "<", "`${", "\"", "/*", "- ", "> ", "$(", "class A{", "def f\n", "!"} {
			src := strings.Repeat(open, size/len(open))
			o, refs, err := ParseWithReferences(path, []byte(src))
			if err != nil && strings.Contains(err.Error(), "grammar failed") {
				t.Errorf("%s of %q: %v", path, open, err)
			}
			if o != nil {
				checkSpans(t, path, []byte(src), o)
				checkRefs(t, path, []byte(src), o, refs)
			}
		}
	}
}

// Symbols beyond MaxSymbols are counted.
func TestManySymbols(t *testing.T) {
	n := 30_000
	if os.Getenv("KEN_CORPUS") != "" {
		n = 100_000
	}
	for path, line := range map[repo.Path]string{
		"a.go": "const C%d = 1\n", "a.py": "def f%d(): pass\n", "a.js": "var v%d;\n", "a.c": "int f%d();\n", "a.md": "# h%d\n",
		"a.rb": "def f%d; end\n", "a.sh": "V%d=1\n",
	} {
		var b strings.Builder
		if path == "a.go" {
			b.WriteString("package a\n")
		}
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		o, err := Parse(path, []byte(b.String()))
		if err != nil {
			t.Errorf("Parse(%q) returned the error %v", path, err)
			continue
		}
		if len(o.Symbols)+o.More != n || len(o.Symbols) != MaxSymbols || o.Partial != "" {
			t.Errorf("%s: %d symbols and %d more, partial %q", path, len(o.Symbols), o.More, o.Partial)
		}
	}
}

// A long chain of names is nested as deeply as it is long. Partial reports the omitted part.
func TestLongChains(t *testing.T) {
	n := 20_000
	for path, file := range map[repo.Path]string{
		"a.go": "package a\nvar x = first%s\n", "a.py": "x = first%s\n", "a.js": "x = first%s\n", "a.ts": "x = first%s\n",
		"a.rs": "const X: i32 = first%s;\n", "A.java": "class A { int x = first%s; }\n", "a.c": "int x = first%s;\n",
		"A.cs": "class A { int x = first%s; }\n", "a.rb": "x = first%s\n", "a.php": "<?php $x = first%s;\n",
	} {
		for _, link := range []string{"+a", ".b", "(c)", ".b(c)", "[d]"} {
			src := fmt.Sprintf(file, strings.Repeat(link, n))
			o, refs, err := ParseWithReferences(path, []byte(src))
			if err != nil {
				if strings.Contains(err.Error(), "grammar failed") {
					t.Errorf("%s of %q: %v", path, link, err)
				}
				continue
			}
			checkRefs(t, path, []byte(src), o, refs)
			if o.Partial == "" && refs.Partial == "" && !slices.ContainsFunc(refs.Uses, func(u Use) bool { return u.Name == "first" || strings.HasPrefix(u.Qualifier, "first") }) {
				t.Errorf("%s of %q: neither a use of first, nor a reason why not: %+v", path, link, refs)
			}
		}
	}
}

// Uses beyond MaxUses are counted.
func TestManyUses(t *testing.T) {
	n := MaxUses + 500
	for path, line := range map[repo.Path]string{"a.go": "var _ = u%d\n", "a.py": "u%d\n", "a.js": "u%d\n"} {
		var b strings.Builder
		if path == "a.go" {
			b.WriteString("package a\n")
		}
		for range 2 {
			for i := range n {
				fmt.Fprintf(&b, line, i)
			}
		}
		o, refs, err := ParseWithReferences(path, []byte(b.String()))
		if err != nil {
			t.Errorf("ParseWithReferences(%q) returned the error %v", path, err)
			continue
		}
		checkRefs(t, path, []byte(b.String()), o, refs)
		if len(refs.Uses)+refs.More != n || len(refs.Uses) != MaxUses {
			t.Errorf("%s: %d uses and %d more, want %d", path, len(refs.Uses), refs.More, n)
		}
	}
}

// Go's standard library has complete outlines. Indentation does not change them.
func TestGoLibrary(t *testing.T) {
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("ask go where its library is: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	step, n := 12, 0
	if os.Getenv("KEN_CORPUS") != "" {
		step = 1
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "cmd") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		if n++; n%step != 0 {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := repo.Path(filepath.Base(path))
		o, err := Parse(name, src)
		if err != nil {
			if len(src) <= MaxBytes {
				t.Errorf("Parse(%q) returned the error %v", path, err)
			}
			return nil
		}
		if o.Partial != "" || o.Package == "" || o.Tokens.IsZero() {
			t.Errorf("%s is partial: %s", path, o.Partial)
		}
		checkSpans(t, name, src, o)
		checkUnresolved(t, name, path, src)
		if strings.Contains(string(src), "`") || strings.Contains(string(src), `import "C"`) {
			return nil // tabs are significant in raw strings and in cgo comments
		}
		spaced := regexp.MustCompile(`(?m)^\t+`).ReplaceAllStringFunc(string(src), func(tabs string) string {
			return strings.Repeat("    ", len(tabs))
		})
		if other, err := Parse(name, []byte(spaced)); err != nil || other.Tokens != o.Tokens || other.Digest != o.Digest {
			t.Errorf("%s: spaces for tabs are a change (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatal("no files")
	}
}

// checkUnresolved compares the uses of a Go file with the names that go/parser cannot resolve.
func checkUnresolved(t *testing.T, name repo.Path, path string, src []byte) {
	t.Helper()
	o, refs, err := ParseWithReferences(name, src)
	if err != nil {
		t.Fatal(err)
	}
	checkRefs(t, name, src, o, refs)
	tree, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	unresolved := make(map[string]bool)
	for _, ident := range tree.Unresolved {
		if !isGoBuiltin(ident.Name) {
			unresolved[ident.Name] = true
		}
	}
	keys := make(map[string]bool) // keys of literals; go/parser does not resolve them
	ast.Inspect(tree, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				keys[key.Name] = true
			}
		}
		return true
	})
	declared := make(map[string]bool)
	for _, s := range o.Symbols {
		declared[s.Name] = true
	}
	found := make(map[string]bool)
	for _, u := range refs.Uses {
		name := u.Name
		if u.Member {
			name, _, _ = strings.Cut(u.Qualifier, ".")
			name = strings.TrimSuffix(name, CalledMark)
		}
		found[name] = true
		ofOwnType := u.Member && declared[name]
		if name != "" && !unresolved[name] && !keys[name] && !ofOwnType {
			t.Errorf("%s: %s of %+v is local", path, name, u)
		}
	}
	for name := range unresolved {
		if !found[name] && !declared[name] {
			t.Errorf("%s: %s is not a use, but go/parser does not resolve it", path, name)
		}
	}
}
