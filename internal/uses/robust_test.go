package uses_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/uses"
)

// For any manifests and imports, the resolver returns sorted edges between files of the tree,
// and reads nothing outside of the tree.
func TestAnyInput(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := randomTree(rt)
		r, err := uses.NewResolver(tr)
		if err != nil {
			rt.Fatalf("NewResolver: %v", err)
		}
		for p, f := range tr.files {
			found, err := r.Edges(f, tr.refs[p])
			if err != nil {
				rt.Fatalf("Edges(%s): %v", p, err)
			}
			for i, e := range found.Edges {
				_, known := tr.content[e.To]
				if !known || e.From != p || e.To == p {
					rt.Errorf("edge %+v should lead from %s to another file of the tree", e, p)
				}
				if i > 0 && found.Edges[i-1].To > e.To {
					rt.Errorf("edge %+v should stand before %+v", e, found.Edges[i-1])
				}
			}
		}
		for _, p := range tr.asked {
			if _, ok := tr.content[p]; !ok {
				rt.Errorf("the resolver asked for %s, which is not in the tree", p)
			}
		}
	})
}

func randomTree(rt *rapid.T) *tree {
	tr := &tree{
		content: make(map[repo.Path]string),
		files:   make(map[repo.Path]*uses.ParsedFile),
		refs:    make(map[repo.Path]*outline.References),
	}
	pick := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "pick") }
	dir := func() string {
		return pick("", "a/", "b/", "a/b/", "src/", "a/src/", "vendor/x/", "node_modules/a/", "tests/")
	}
	manifests := map[string][]string{
		"go.mod":              {"module m", "module a\nreplace m => ../..", "replace (\nm => ./b\n", "(", "module \"m"},
		"go.work":             {"use (\n./a\n../..\n)", "use ."},
		"package.json":        {`{"name":"a","exports":{".":{"x":["./a.ts",null]},"./*":"../*"}}`, `{"workspaces":["**","[","!a"],"name":"b"}`, `{"imports":{"#a":"./a.js","#*":{}},"main":5}`, `[`, `{"exports":"../../x","dependencies":{"a":"file:../../.."}}`},
		"pnpm-workspace.yaml": {"packages: ['*']", "packages: 5", ":"},
		"tsconfig.json":       {`{"extends":"../../x","compilerOptions":{"baseUrl":"../..","paths":{"*":["../../*"],"a*b":["./*"]}}}`, `{"extends":["./tsconfig.json"],"references":[{"path":".."},{"path":"./tsconfig.json"}]}`, `{`, `{"compilerOptions":{"paths":{"a":"b"},"baseUrl":"${configDir}/.."}}`},
		"pyproject.toml":      {"[tool.setuptools.package-dir]\n\"\"=\"../..\"", "[", "[tool.pytest.ini_options]\npythonpath=[\"..\", \"src\"]"},
		"setup.cfg":           {"[options]\npackage_dir=\n =..", "=\n[", " x"},
		"Cargo.toml":          {"[package]\nname='a'\n[dependencies]\nb={path='../..'}", "[package]\nname='b'\n[lib]\npath='../x.rs'", "[", "[workspace.dependencies]\na='1'"},
	}
	for range rapid.IntRange(0, 6).Draw(rt, "manifests") {
		name := pick("go.mod", "go.work", "package.json", "pnpm-workspace.yaml", "tsconfig.json", "pyproject.toml", "setup.cfg", "Cargo.toml")
		tr.content[repo.Path(dir()+name)] = pick(manifests[name]...)
	}
	word := func() string {
		return pick("a", "b", "m", "*", "", "default", "x_y", "a.b", "A::b", "self", "super", "crate", "_", "..", "module.exports", "__all__")
	}
	for range rapid.IntRange(1, 8).Draw(rt, "files") {
		p := repo.Path(dir() + pick("a", "b", "index", "__init__", "mod", "lib", "main", "a_test") + pick(".go", ".ts", ".js", ".py", ".rs", ".java", ".c", ".h", ".rb", ".php", ".cs", ".sh"))
		o := &outline.Outline{Language: outline.LanguageOf(p, nil), Package: pick("a", "b", "a.b", "", `A\B`, "a_test")}
		f := &uses.ParsedFile{Path: p, Outline: o}
		refs := new(outline.References)
		for range rapid.IntRange(0, 4).Draw(rt, "imports") {
			im := outline.Import{
				Module:   pick("", ".", "..", "./a", "../b", "....", "a", "a/b", "a.b", ".a", "m/a", "@", "@a/b", "#a", "#", "a::b", "::", "crate::a", "super::super::b", "super", "self", "$x/a.sh", "$", "a.h", "../../../x", "/etc/x", `A\B`, "a.b.*", "b?q", "a/", "C"),
				Reexport: rapid.Bool().Draw(rt, "reexport"),
				Line:     1,
			}
			for range rapid.IntRange(0, 2).Draw(rt, "names") {
				im.Names = append(im.Names, outline.Binding{Name: word(), As: word()})
			}
			refs.Imports = append(refs.Imports, im)
		}
		for range rapid.IntRange(0, 4).Draw(rt, "uses") {
			refs.Uses = append(refs.Uses, outline.Use{Qualifier: word(), Member: rapid.Bool().Draw(rt, "member"), Name: word(), Kind: outline.UseKind(pick("", "call")), Lines: []int{2}})
		}
		for range rapid.IntRange(0, 4).Draw(rt, "symbols") {
			s := outline.Symbol{Kind: outline.Kind(pick("func", "class", "method", "module", "field", "impl")), Name: word(), Exported: true}
			if rapid.Bool().Draw(rt, "member") {
				s.Qualified = "A." + s.Name
			}
			f.Symbols = append(f.Symbols, s)
		}
		f.Imports = refs.Imports
		tr.content[p] = ""
		tr.files[p] = f
		tr.refs[p] = refs
	}
	return tr
}

func TestResolverIsSafeForConcurrentUse(t *testing.T) {
	tr := newTree(t, `
		-- go.mod --
		module m
		-- a/a.go --
		package a
		decl func A
		-- b/b.go --
		package b
		import m/a >a
		use a.A
		-- x.ts --
		reexport ./y *
		-- y.ts --
		decl func y
		-- z.ts --
		import ./x y
		use y
		-- p/__init__.py --
		import .q q
		-- p/q.py --
		decl func q
		-- r.py --
		import p q
		use q
	`)
	r, err := uses.NewResolver(lockedTree{tr, new(sync.Mutex)})
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[repo.Path]uses.Resolution)
	fresh, err := uses.NewResolver(lockedTree{tr, new(sync.Mutex)})
	if err != nil {
		t.Fatal(err)
	}
	for p, f := range tr.files {
		if want[p], err = fresh.Edges(f, tr.refs[p]); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for p, f := range tr.files {
				got, err := r.Edges(f, tr.refs[p])
				if err != nil || !reflect.DeepEqual(got, want[p]) {
					t.Errorf("edges of %s: %+v, %v; a resolver that works alone finds %+v", p, got, err, want[p])
				}
			}
		})
	}
	wg.Wait()
}

// lockedTree is a tree for several goroutines.
type lockedTree struct {
	*tree
	mu *sync.Mutex
}

func (l lockedTree) File(p repo.Path) (*uses.ParsedFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tree.File(p)
}

func (l lockedTree) Read(p repo.Path) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tree.Read(p)
}

// failingTree cannot read one path.
type failingTree struct {
	*tree
	path repo.Path
}

var errDisk = errors.New("disk")

func (f failingTree) File(p repo.Path) (*uses.ParsedFile, error) {
	if p == f.path {
		return nil, fmt.Errorf("%s: %w", p, errDisk)
	}
	return f.tree.File(p)
}

func (f failingTree) Read(p repo.Path) ([]byte, error) {
	if p == f.path {
		return nil, fmt.Errorf("%s: %w", p, errDisk)
	}
	return f.tree.Read(p)
}

// A source that fails is an error, not an empty answer.
func TestSourceErrors(t *testing.T) {
	tr := newTree(t, `
		-- go.mod --
		module m
		-- tsconfig.json --
		{}
		-- a/a.go --
		package a
		decl func A
		-- b/b.go --
		package b
		import m/a >a
		use a.A
		-- x.ts --
		decl func x
		-- y.ts --
		import ./x x
		import other z
		use x
		-- p.py --
		decl func p
		-- q.py --
		import p p
		use p
	`)
	if _, err := uses.NewResolver(failingTree{tr, "go.mod"}); !errors.Is(err, errDisk) {
		t.Errorf("NewResolver with an unreadable go.mod: %v, want the error of the source", err)
	}
	for from, broken := range map[repo.Path]repo.Path{"b/b.go": "a/a.go", "y.ts": "x.ts", "q.py": "p.py"} {
		r, err := uses.NewResolver(failingTree{tr, broken})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := r.Edges(tr.files[from], tr.refs[from]); !errors.Is(err, errDisk) {
			t.Errorf("edges of %s with unreadable %s: %v, %v, want the error of the source", from, broken, found.Edges, err)
		}
	}
	r, err := uses.NewResolver(failingTree{tr, "tsconfig.json"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Edges(tr.files["y.ts"], tr.refs["y.ts"]); !errors.Is(err, errDisk) {
		t.Errorf("edges with an unreadable tsconfig.json: %v, want the error of the source", err)
	}
}
