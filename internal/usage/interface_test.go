package usage

import (
	"context"
	"crypto/sha1"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A memoryTree is a tree of files in memory, without a history.
type memoryTree struct {
	find.Tree
	files map[repo.Path]string
}

func (t *memoryTree) State(context.Context) (string, error) { return "", nil }

func (t *memoryTree) Commit() repo.ID { return repo.ID{} }

func (t *memoryTree) Files(context.Context) ([]repo.File, error) {
	var list []repo.File
	for _, p := range slices.Sorted(maps.Keys(t.files)) {
		sum := sha1.Sum([]byte(t.files[p]))
		list = append(list, repo.File{Path: p, ID: repo.IDFromBytes(sum[:]), Kind: t.kind(p)})
	}
	return list, nil
}

func (t *memoryTree) kind(p repo.Path) repo.Kind {
	if outline.LanguageOf(p, nil) == outline.Markdown {
		return repo.KindDoc
	}
	return repo.KindSource
}

func (t *memoryTree) Unread() []repo.File { return nil }

func (t *memoryTree) Summary(repo.Path) string { return "" }

func (t *memoryTree) Facts(_ context.Context, files []repo.File, see func(repo.File, find.Facts, []byte) error) error {
	for _, f := range files {
		content := []byte(t.files[f.Path])
		o, refs, _ := outline.ParseWithReferences(f.Path, content) // both are nil for other files
		if err := see(f, find.Facts{Outline: o, References: refs}, content); err != nil {
			return err
		}
	}
	return nil
}

func (t *memoryTree) References(ctx context.Context, files []repo.File, see func(repo.File, *outline.References) error) error {
	return t.Facts(ctx, files, func(f repo.File, facts find.Facts, _ []byte) error { return see(f, facts.References) })
}

func (t *memoryTree) Read(_ context.Context, p repo.Path) []byte { return []byte(t.files[p]) }

// indexOf returns the index of a tree.
func indexOf(t *testing.T, tree *memoryTree) *searchindex.Index {
	t.Helper()
	x, err := searchindex.Open(t.Context(), filepath.Join(t.TempDir(), "search.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	err = x.Update(t.Context(), func(w *searchindex.Writer) error {
		_, err := find.Update(t.Context(), w, tree)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A method lists the callers of the interface that its type implements, and the calls on values of an unknown
// type; ken never calls it unused.
func TestMethod(t *testing.T) {
	tree := &memoryTree{files: map[repo.Path]string{
		"go.mod":         "module shop\n",
		"db/store.go":    "package db\n\ntype Store struct{}\n\nfunc (s *Store) Get() {}\n\nfunc (s *Store) Put() {}\n",
		"db/getter.go":   "package db\n\n// A Getter gets.\ntype Getter interface {\n\t// Get gets.\n\tGet()\n}\n\ntype Closer interface {\n\tGet()\n\tClose()\n}\n",
		"web/web.go":     "package web\n\nimport \"shop/db\"\n\nfunc show(g db.Getter) { g.Get() }\n",
		"web/close.go":   "package web\n\nimport \"shop/db\"\n\nfunc end(c db.Closer) { c.Get() }\n",
		"web/unknown.go": "package web\n\nfunc all() { open().Put() }\n",
	}}
	x := indexOf(t, tree)
	a, err := answerFrom(t.Context(), x, tree, Query{Asked: "db/store.go#Store.Get", whole: "db/store.go#Store.Get", path: "db/store.go", symbol: "Store.Get"})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Through) != 1 || a.Through[0].Name != "Getter.Get" || a.Through[0].Line != 6 || len(a.Through[0].UsedBy) != 1 || a.Through[0].UsedBy[0].Path != "web/web.go" {
		t.Errorf("Store.Get is used through %+v, expected Getter.Get in web/web.go alone: Store has no Close", a.Through)
	}
	a, err = answerFrom(t.Context(), x, tree, Query{Asked: "Store.Put", whole: "Store.Put"})
	if err != nil {
		t.Fatal(err)
	}
	if text := a.String(); len(a.AmbiguousIn) != 1 || a.AmbiguousIn[0].Path != "web/unknown.go" || strings.Contains(text, "no use") {
		t.Errorf("Store.Put may be used by %+v, expected web/unknown.go, in\n%s", a.AmbiguousIn, text)
	}
}

// A method is compared with those of the same name: interfaces, traits and bases that it implements, its
// implementors, and calls on unknown values, but for those with another number of arguments.
func TestContracts(t *testing.T) {
	tree := &memoryTree{files: map[repo.Path]string{
		"go.mod":      "module shop\n",
		"db/store.go": "package db\n\ntype Store struct{}\n\nfunc (s *Store) Get(key string) error { return nil }\n",
		"db/two.go":   "package db\n\ntype Two struct{}\n\nfunc (t *Two) Get(key, kind string) error { return nil }\n",
		"web/web.go":  "package web\n\ntype Getter interface{ Get(key string) error }\n\ntype Wide interface{ Get(key string) (int, error) }\n",
		"Cargo.toml":  "[package]\nname = \"shop\"\n",
		"src/lib.rs":  "pub mod cart;\npub trait Price {\n    fn price(&self) -> u32;\n    fn label(&self) -> u32 { 1 }\n}\npub fn sum(p: &dyn Price) -> u32 { p.price() }\n",
		"src/cart.rs": "use crate::Price;\npub struct Cart;\nimpl Price for Cart {\n    fn price(&self) -> u32 { 1 }\n}\npub trait Other { fn price(&self) -> u32; }\n",
		"a.py":        "class Base:\n    def run(self, n): ...\n\nclass Middle(Base): ...\n",
		"b.py":        "from a import Middle\n\nclass Last(Middle):\n    def run(self, n): ...\n\ndef f(x, y: Middle):\n    x.run(1)\n    x.run(1, 2, 3)\n    y.run(1)\n",
		"c.ts":        "export interface Shape { area(): number }\n",
		"d.ts":        "import { Shape } from './c';\nexport class Disc implements Shape { area() { return 1 } }\n",
	}}
	x := indexOf(t, tree)
	for _, c := range []struct{ asked, implements, implementedBy, ambiguous string }{
		{"Store.Get", "Getter.Get", "", ""},
		{"Two.Get", "", "", ""},
		{"Getter.Get", "", "Store.Get", ""},
		{"Cart.price", "Price.price", "", "src/lib.rs:6"},
		{"Price.price", "", "Cart.price", "src/lib.rs:6"},
		{"Other.price", "", "", "src/lib.rs:6"},
		{"Base.run", "", "Last.run", "b.py:7"},
		{"Last.run", "Base.run", "", "b.py:7"},
		{"Shape.area", "", "Disc.area", ""},
		{"Disc.area", "Shape.area", "", ""},
	} {
		a, err := answerFrom(t.Context(), x, tree, Query{Asked: c.asked, whole: repo.Path(c.asked)})
		if err != nil {
			t.Fatal(err)
		}
		var above, below, ambiguous []string
		for _, i := range a.Through {
			above = append(above, i.Name)
		}
		for _, i := range a.ImplementedBy {
			below = append(below, i.Name)
		}
		for _, f := range a.AmbiguousIn {
			ambiguous = append(ambiguous, lineList(f.Path, f.Lines, f.More, NoLimit))
		}
		got := [3]string{strings.Join(above, " "), strings.Join(below, " "), strings.Join(ambiguous, " ")}
		if want := [3]string{c.implements, c.implementedBy, c.ambiguous}; got != want {
			t.Errorf("%s: implements, implemented by, ambiguous: %q, expected %q", c.asked, got, want)
		}
	}
}
