package usage

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

// What no rule of a language settles is a mention: names in strings, in files of other languages, behind values of
// unknown type. What a rule settled is none, and neither are comments, documents and the declaring file.
func TestUnresolvedMentions(t *testing.T) {
	const declaring = "package lib\n\ntype T struct{ Width int }\n\nfunc (T) Frob() { Frob2() }\n\nfunc Frob2() {}\n\ntype U struct{}\n\nfunc (U) Frob() {}\n"
	const python = "class T:\n    def frob(self): pass\ndef frob2(): pass\n"
	const script = "export class T {\n  frob() {}\n  find() {}\n}\nexport function frob2() {}\n"
	for name, tt := range map[string]struct {
		declaring string // the file
		symbol    string // its full name
		files     map[repo.Path]string
		want      []string
	}{
		"go: a string": {"lib.go", "Frob2", map[repo.Path]string{"a/a.go": "package a\n\nvar x = \"lib.Frob2\"\n"}, []string{"a/a.go:[3]"}},
		"go: a comment, a document, a longer word": {"lib.go", "Frob2", map[repo.Path]string{
			"a/a.go": "package a\n\n// Frob2 is elsewhere.\nvar x = \"Frob22\"\n", "README.md": "Frob2\n",
		}, nil},
		"go: another declaration": {"lib.go", "Frob2", map[repo.Path]string{"a/a.go": "package a\n\nfunc Frob2() {}\n", "a/b.go": "package a\n\nfunc b() { Frob2() }\n"}, nil},
		"go: a local variable":    {"lib.go", "Frob2", map[repo.Path]string{"a/a.go": "package a\n\nfunc a(Frob2 int) int { return Frob2 }\n"}, nil},
		"go: a member is no function of a package": {"lib.go", "Frob2", map[repo.Path]string{
			"a/a.go": "package a\n\nimport \"m\"\n\nvar o = m.Mk()\n\nfunc a() { o.Frob2() }\n",
		}, nil},
		"go: a method of a value of unknown type": {"lib.go", "T.Frob", map[repo.Path]string{
			"a/a.go": "package a\n\nimport \"m\"\n\nvar o = m.Mk()\n\nfunc a() {\n\to.Frob()\n\tm.Mk().Frob()\n}\n",
		}, []string{"a/a.go:[8 9]"}},
		"go: a value from outside":     {"lib.go", "T.Frob", map[repo.Path]string{"a/a.go": "package a\n\nimport \"os\"\n\nfunc a(f os.File) {\n\tf.Frob()\n}\n"}, nil},
		"a language without rules":     {"lib.go", "Frob2", map[repo.Path]string{"a.lua": "-- Frob2\nlib.Frob2()\n"}, []string{"a.lua:[2]"}},
		"another language":             {"lib.py", "frob2", map[repo.Path]string{"a.go": "package a\n\nfunc frob2() {}\n\nvar x = frob2()\n"}, nil},
		"a template":                   {"lib.go", "T.Frob", map[repo.Path]string{"a.tmpl": "{{ .Frob }}\n"}, []string{"a.tmpl:[1]"}},
		"python: a docstring":          {"lib.py", "frob2", map[repo.Path]string{"a.py": "\"\"\"frob2\"\"\"\n"}, nil},
		"python: a string":             {"lib.py", "frob2", map[repo.Path]string{"a.py": "getattr(x, \"frob2\")\n"}, []string{"a.py:[1]"}},
		"python: a module in a value":  {"lib.py", "frob2", map[repo.Path]string{"a.py": "def a(m):\n    m.frob2()\n"}, []string{"a.py:[2]"}},
		"python: at the top level":     {"lib.py", "T.frob", map[repo.Path]string{"a.py": "from b import mk\no = mk()\no.frob()\n", "b.py": "def mk(): pass\n"}, []string{"a.py:[3]"}},
		"python: an unknown star":      {"lib.py", "frob2", map[repo.Path]string{"a.py": "from .gone import *\nfrob2()\n"}, []string{"a.py:[2]"}},
		"python: an import of nothing": {"lib.py", "frob2", map[repo.Path]string{"a.py": "from .gone import frob2\nfrob2()\n"}, []string{"a.py:[1 2]"}},
		"script: a pattern":            {"lib.ts", "T.frob", map[repo.Path]string{"a.ts": "export function a(x) {\n  const { frob } = x\n  return frob()\n}\n"}, []string{"a.ts:[2]"}},
		"script: a member that arrays have": {"lib.ts", "T.find", map[repo.Path]string{
			"a.ts": "export function a(x) { x.find() }\n",
		}, []string{"a.ts:[1]"}},
		"script: an override":                {"lib.ts", "T.frob", map[repo.Path]string{"a.ts": "export class U {\n  frob() {}\n}\n"}, nil},
		"rust: an import that leads nowhere": {"src/lib.rs", "Frob2", map[repo.Path]string{"src/a.rs": "use crate::gone::Frob2;\nfn a() { Frob2::new(); }\n"}, []string{"src/a.rs:[1]"}},
		"rust: before a member":              {"src/lib.rs", "Frob2", map[repo.Path]string{"src/a.rs": "use super::gone::*;\n\nfn a() { Frob2::new(); }\n"}, []string{"src/a.rs:[3]"}},
		"several files":                      {"lib.ts", "frob2", map[repo.Path]string{"b.html": "<a onclick=\"frob2()\">\n", "a.yaml": "run: frob2\n"}, []string{"a.yaml:[1]", "b.html:[1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := &memoryTree{files: map[repo.Path]string{"go.mod": "module m\n", "lib.go": declaring, "lib.py": python, "lib.ts": script, "src/lib.rs": "pub struct Frob2;\n"}}
			for _, other := range []repo.Path{"lib.go", "lib.py", "lib.ts", "src/lib.rs"} {
				if other.String() != tt.declaring {
					delete(tree.files, other)
				}
			}
			maps.Copy(tree.files, tt.files)
			x := indexOf(t, tree)
			o, _, _, err := x.Facts(t.Context(), repo.Path(tt.declaring))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(o.Symbols, func(s outline.Symbol) bool { return s.FullName() == tt.symbol })
			if i < 0 {
				t.Fatalf("no symbol %s", tt.symbol)
			}
			search := NewMentionSearch(t.Context(), x, tree, slices.Sorted(maps.Keys(tree.files)))
			found, err := search.Of(repo.Path(tt.declaring), &o.Symbols[i])
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found.Places {
				got = append(got, fmt.Sprint(f.Path, ":", f.Lines))
			}
			if !slices.Equal(got, tt.want) || found.Files != len(tt.want) || found.UpTo != 0 {
				t.Errorf("mentions in %v (%d files, up to %d), expected %v", got, found.Files, found.UpTo, tt.want)
			}
		})
	}
}

// Too many files are not read: their number is an upper limit.
func TestTooManyMentions(t *testing.T) {
	tree := &memoryTree{files: map[repo.Path]string{"go.mod": "module m\n", "lib.go": "package m\n\nfunc Run() {}\n"}}
	for i := range maxMentionFiles + 1 {
		tree.files[repo.Path(fmt.Sprintf("a/%d.txt", i))] = "run\n" // another case: the index folds it
	}
	search := NewMentionSearch(t.Context(), indexOf(t, tree), tree, slices.Sorted(maps.Keys(tree.files)))
	run := &outline.Symbol{Name: "Run", Kind: outline.Func}
	found, err := search.Of("lib.go", run)
	if err != nil || found.Files != 0 || found.UpTo != maxMentionFiles+1 || len(found.Places) > 0 {
		t.Errorf("found %+v, %v, expected up to %d files", found, err, maxMentionFiles+1)
	}
	delete(tree.files, "a/0.txt")
	search = NewMentionSearch(t.Context(), indexOf(t, tree), tree, slices.Sorted(maps.Keys(tree.files)))
	if found, err = search.Of("lib.go", run); err != nil || !found.IsZero() {
		t.Errorf("found %+v, %v, expected none: the files have another word", found, err)
	}
}
