package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCompareEdges(t *testing.T) {
	truth := newTruth([]string{"a", "b", "c", "d"})
	truth.add("a", "b", true)
	truth.add("a", "c", false)
	truth.add("b", "c", true)
	truth.add("b", "d", false)
	truth.add("c", "a", true)
	truth.add("c", "c", true)       // no edge
	truth.add("c", "foreign", true) // not known
	truth.unclear["d"] = []string{"pkg"}
	truth.known["pkg/x"] = true
	got := compareEdges([]kenEdge{
		{From: "a", To: "b", Certainty: "likely", Symbol: "f"},
		{From: "a", To: "b", Certainty: "exact", Symbol: "g"}, // the same pair
		{From: "a", To: "c", Certainty: "exact"},
		{From: "a", To: "d", Certainty: "exact"},              // wrong
		{From: "b", To: "c", Certainty: "likely"},             // right
		{From: "c", To: "b", Certainty: "likely"},             // wrong
		{From: "c", To: "a", Certainty: "exact", Via: "b"},    // not direct
		{From: "c", To: "d", Certainty: "ambiguous"},          // not claimed
		{From: "foreign", To: "a", Certainty: "exact"},        // not judged
		{From: "d", To: "pkg/x", Certainty: "exact"},          // not judged
		{From: "b", To: "b", Certainty: "exact", Symbol: "h"}, // no edge
	}, truth)
	want := edgeCounts{
		all: 5, packageLevel: 3, exact: 3, exactRight: 2, exactPackageLevel: 1, likely: 2, likelyRight: 1, notJudged: 2,
	}
	if !slices.Equal(got.wrong, []edge{{"a", "d"}}) || !slices.Equal(got.wrongLikely, []edge{{"c", "b"}}) || len(got.missing) != 2 {
		t.Errorf("wrong %v, wrong likely %v, missing %v", got.wrong, got.wrongLikely, got.missing)
	}
	got.wrong, got.wrongLikely, got.missing = nil, nil, nil
	if !slices.Equal(got.cells(), want.cells()) || got.exactRight != want.exactRight {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// goModule writes a module and returns it as a tree.
func goModule(t *testing.T, files map[string]string) tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tree{dir: dir, files: slices.Sorted(maps.Keys(files))}
}

func TestGoTruth(t *testing.T) {
	tr := goModule(t, map[string]string{
		"go.mod":         "module example.com/m\n\ngo 1.24\n",
		"main.go":        "package main\n\nimport \"example.com/m/lib\"\n\nfunc main() { helper(); v := lib.New(); v.Run() }\n",
		"helper.go":      "package main\n\nfunc helper() {}\n",
		"lib/new.go":     "package lib\n\nfunc New() T { return T{} }\n",
		"lib/type.go":    "package lib\n\ntype T struct{ n int }\n",
		"lib/run.go":     "package lib\n\nfunc (t T) Run() { t.n++ }\n",
		"lib/x_test.go":  "package lib_test\n\nimport \"example.com/m/lib\"\n\nvar _ = lib.New\n",
		"lib/windows.go": "//go:build windows\n\npackage lib\n\nvar _ = New\n",
		"bad/bad.go":     "package bad\n\nimport \"example.com/missing\"\n\nvar _ = missing.X\n",
	})
	got, err := new(study).goTruth(t.Context(), tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[edge]bool{
		{"main.go", "helper.go"}:        true,
		{"main.go", "lib/new.go"}:       true,
		{"main.go", "lib/run.go"}:       false, // a method alone
		{"lib/new.go", "lib/type.go"}:   true,
		{"lib/run.go", "lib/type.go"}:   true,
		{"lib/x_test.go", "lib/new.go"}: true,
	}
	if !maps.Equal(got.edges, want) {
		t.Errorf("edges %v, want %v", got.edges, want)
	}
	if got.read["bad/bad.go"] || !got.known["bad/bad.go"] {
		t.Error("the uses of a package that does not load should not be judged")
	}
	if got.known["lib/windows.go"] {
		t.Error("a file that is not built here should not be judged")
	}
	if want := "4 packages in 1 modules, 1 with errors"; got.note != want {
		t.Errorf("note %q, want %q", got.note, want)
	}
}

func TestPyrightEdges(t *testing.T) {
	const text = `Found 3 source files
0 errors, 0 warnings, 0 informations

../stubs/os.pyi
 Imports     1 file
    file:///r/pkg/app.py
 Imported by 1 file
    file:///r/pkg/app.py

pkg/app.py
 Imports     3 files
    file:///stubs/os.pyi
    file:///r/pkg/__init__.py
    file:///r/pkg/my%20views.py
 Imported by 1 file
    file:///r/pkg/__init__.py
`
	got := pyrightEdges(text, "/r", []string{"pkg/__init__.py", "pkg/app.py", "pkg/my views.py"})
	want := map[edge]bool{{"pkg/app.py", "pkg/__init__.py"}: true, {"pkg/app.py", "pkg/my views.py"}: true}
	if !maps.Equal(got.edges, want) {
		t.Errorf("edges %v, want %v", got.edges, want)
	}
	if want := "1 of 3 files read"; got.note != want {
		t.Errorf("note %q, want %q", got.note, want)
	}
}
