package survey

import (
	"context"
	"strings"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

// What a manifest says is read, and what cannot be read is none.
func TestManifests(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"package.json":   {`{"name": "x", "description": "Routes orders."}`, "Routes orders."},
		"composer.json":  {`{"description": ["no", "text"]}`, ""},
		"vcpkg.json":     {`{"description": `, ""},
		"Cargo.toml":     {"[package]\nname = \"x\"\ndescription = \"Routes \\\"orders\\\".\" # so\n[dependencies]\ndescription = \"no\"\n", `Routes "orders".`},
		"pyproject.toml": {"[tool.other]\ndescription = 'no'\n[project]\ndescription = 'Routes orders.'\n", "Routes orders."},
		"setup.cfg":      {"[metadata]\nname = x\ndescription = Routes orders.\n", "Routes orders."},
		"x.gemspec":      {"Gem::Specification.new do |s|\n  s.description = \"Of #{name}\"\n  s.summary     = %q{Routes orders.}\nend\n", "Routes orders."},
		"pom.xml":        {`<project><modules/><description>Routes orders.</description></project>`, "Routes orders."},
		"X.csproj":       {`<Project><PropertyGroup><Description>Routes orders.</Description></PropertyGroup></Project>`, "Routes orders."},
		"pubspec.yaml":   {"name: x\ndescription: >-\n  Routes\n  orders.\nversion: 1\n", "Routes\norders."},
		"action.yml":     {"name: x\ninputs:\n  description: no\ndescription: 'Routes orders.'\n", "Routes orders."},
		"chart.yaml":     {"description: [no]\n", ""},
		"README":         {"", ""},
		"readme.txt":     {"\n\n\n", ""},
		"README.rst": {"====\nShop\n====\n\n.. image:: badge.svg\n\n|badge|\n\nPlease see the docs.\n\n" +
			"Routes `orders <https://example.com>`_ between shops,\ni.e. markets. And more.\n", "Routes orders between shops, i.e. markets."},
	} {
		found := false
		for _, m := range manifests {
			if m.matches(name) {
				found = true
				if got := m.read(c.content); got != c.want {
					t.Errorf("%s: %q, want %q", name, got, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%s is no manifest", name)
		}
	}
}

// What tells something is told from what does not.
func TestTelling(t *testing.T) {
	for text, want := range map[string]bool{
		"Routes orders between shops.":             true,
		"Flask is a lightweight [WSGI] framework.": true,
		"A parser of licenses.":                    true,
		"":                                         false,
		"Yes.":                                     false,
		"WIP":                                      false,
		"Module dependencies.":                     false,
		"Copyright 2011 The Authors.":              false,
		"Licensed under the MIT license.":          false,
		"Shop Framework (https://example.com)":     false,
		"Please follow the documentation!":         false,
		"Core API ----------------------------------------":  false,
		"![a](b) <img src=\"c\"> [![d](e)](f)":               false,
		":+1::tada: First off, thanks for all of your help!": true,
	} {
		if got := telling(tidy(text)); got != want {
			t.Errorf("%q (%q): %v", text, tidy(text), got)
		}
	}
	for text, want := range map[string]string{
		"a [b][c] and [d](e), `f`.":                 "a b and d, f.",
		"types and .gitignore files":                "types and .gitignore files",
		"What there is:":                            "What there is…",
		"See :class:`~flask.Flask` &amp; <b>it</b>": "See flask.Flask & it",
		"\x1b[31mred\u202e \x00text":                "[31mred text",
	} {
		if got := tidy(text); got != want {
			t.Errorf("tidy %q: %q, want %q", text, got, want)
		}
	}
}

// sketchOf outlines a directory of files, by name and doc, and of children with texts.
func sketchOf(t *testing.T, dir repo.Path, files [][2]string, word SelfDescription, children ...Child) []string {
	t.Helper()
	it := &Item{Path: dir, Word: word, Children: children}
	for _, f := range files {
		file := ItemFile{File: &File{Path: repo.Path(f[0]), Kind: repo.KindSource}}
		if strings.HasSuffix(f[0], ".md") {
			file.Kind = repo.KindDoc
		}
		if strings.HasSuffix(f[0], ".json") {
			file.Kind = repo.KindConfig
		} else {
			file.Outline = &outline.Outline{Language: "toy", Doc: f[1]}
		}
		it.Files = append(it.Files, file)
	}
	d, err := Outliner{}.Write(context.Background(), it)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(d.Text, "\n")
}

func lines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A directory is told by its README, its package, its manifest, or its file, in this
// order; what several files say is nobody's.
func TestLead(t *testing.T) {
	word := SelfDescription{Text: "The manifest speaks."}
	lines(t, "README", sketchOf(t, "a", [][2]string{{"README.md", "The README speaks."}, {"lib.rs", "The package speaks."}}, word),
		"The README speaks.", "Holds 1 toy file.", "- lib.rs: The package speaks.")
	lines(t, "package", sketchOf(t, "a", [][2]string{{"README.md", "Please look elsewhere."}, {"lib.rs", "The package speaks."}}, word),
		"The package speaks.", "Holds 1 toy file.")
	lines(t, "plain README", sketchOf(t, "a", [][2]string{{"lib.rs", "The package speaks."}}, SelfDescription{"The README speaks.", true}),
		"The README speaks.", "Holds 1 toy file.", "- lib.rs: The package speaks.")
	lines(t, "manifest", sketchOf(t, "a", [][2]string{{"main.x", "The file speaks."}, {"package.json", ""}}, word),
		"The manifest speaks.", "Holds 1 toy file.", "- main.x: The file speaks.", "- built by: package.json")
	lines(t, "file", sketchOf(t, "a", [][2]string{{"main.x", "The file speaks."}}, SelfDescription{}),
		"main.x: The file speaks.", "Holds 1 toy file.")
	lines(t, "boilerplate", sketchOf(t, "a", [][2]string{{"b.x", "Shop, the framework."}, {"main.x", "Shop, the framework."}}, SelfDescription{}),
		"Holds 2 toy files: b, main.")
}

// The figures of a census are of all files; where not all of them are named, what follows
// does not look like the rest of a sum.
func TestFiguresAndNames(t *testing.T) {
	for what, c := range map[string]struct{ files, want string }{
		"all":            {"a.x b.x", "Holds 2 toy files: a, b."},
		"versions":       {"guide.v1.md guide.v2.md other.md", "Holds 3 doc files: guide.v1, guide.v2, other."},
		"one in two":     {"a.h a.c b.c", "Holds 3 toy files: a, b."},
		"nine":           {"a.x b.x c.x d.x e.x f.x g.x h.x i.x", "Holds 9 toy files: a, b, c, d, e, f, g, h, i."},
		"many":           {"a.x b.x c.x d.x e.x f.x g.x h.x i.x j.x", "Holds 10 toy files, among them a, b, c, d, e, f, g, h."},
		"many beginning": {"a.1.x a.2.x b.x c.x d.x e.x f.x g.x h.x i.x", "Holds 10 toy files: a, b, c, d, e, f, g, h, i."},
		"of the house":   {"LICENSE.md a.md b.md", "Holds 3 doc files, among them a, b."},
		"a package":      {"__init__.py a.py b.py", "Holds 3 toy files, among them a, b."},
	} {
		var files [][2]string
		for name := range strings.FieldsSeq(c.files) {
			files = append(files, [2]string{name, ""})
		}
		lines(t, what, sketchOf(t, "a", files, SelfDescription{})[:1], c.want)
	}
	it := &Item{Path: "a"}
	for _, name := range strings.Fields("a.c1 a.c2 a.c3 a.c4 a.c5 a.c6 b.c6 a.c7") {
		it.Files = append(it.Files, ItemFile{File: &File{Path: repo.Path(name), Kind: repo.KindSource}})
	}
	d, err := Outliner{}.Write(context.Background(), it)
	if err != nil {
		t.Fatal(err)
	}
	lines(t, "many sorts", []string{d.Text}, "Holds 2 .c6, 1 .c1, 1 .c2, 1 .c3, 1 .c4 and 2 other files: a, b.")
}

// Those children come first that promise most; one that leads on is told with what it
// leads to.
func TestChildrenInOrder(t *testing.T) {
	child := func(path repo.Path, text string) Child { return Child{Path: path, Status: ChildSummary, Text: text} }
	lines(t, "order", sketchOf(t, "", [][2]string{{"README.md", "The README speaks."}, {"LICENSE.md", "Of the law it speaks."}}, SelfDescription{},
		child(".github", "Hidden."), child("docs", "Explains all. And more."), child("gen", "Makes it.\nHolds 1 file."), child("src", "The README speaks.\nHolds 2 files."), child("tests", "Tries it.")),
		"The README speaks.", "- also: LICENSE.md", "- src/: Holds 2 files.", "- gen/: Makes it.", "- docs/: Explains all.", "- tests/: Tries it.", "- .github/: Hidden.")
	lines(t, "leads", sketchOf(t, "src", nil, SelfDescription{}, child("src/main", "Leads to java/: Routes orders."), child("src/test", "Tries it.")),
		"Leads to main/java/: Routes orders.", "- main/: Leads to java/: Routes orders.", "- test/: Tries it.")
}
