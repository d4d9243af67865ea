package docs

import (
	"fmt"
	"slices"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A mention is broken if it held in the tree before a change and does not hold after it.
func TestTreeChange(t *testing.T) {
	files := func(paths ...repo.Path) (list []repo.File) {
		for _, p := range paths {
			list = append(list, repo.File{Path: p, Mode: repo.Regular, ID: repo.IDFromBytes(slices.Repeat([]byte{1}, 20))})
		}
		return list
	}
	makefile := repo.IDFromBytes(slices.Repeat([]byte{2}, 20))
	before := append(files("src/old.go", "src/stays.go", "parsing/a.go", "parsing/b.go"), repo.File{Path: "Makefile", Mode: repo.Regular, ID: makefile})
	after := append(files("src/new.go", "src/stays.go", "pkg/a.go", "pkg/b.go"), files("Makefile")...)
	c := &TreeChange{
		Before: before, After: after,
		Renamed: map[repo.Path]repo.Path{"src/old.go": "src/new.go", "parsing/a.go": "pkg/a.go", "parsing/b.go": "pkg/b.go"},
		Symbols: []RemovedSymbol{
			{Path: "src/stays.go", Package: "src", Symbol: outline.Symbol{Kind: outline.Func, Name: "LoadAll"}},
			{Path: "src/stays.go", Package: "src", Symbol: outline.Symbol{Kind: outline.Func, Name: "Open"}},
		},
		Named:    func(word string, dir repo.Path) (bool, error) { return word == "Open" && dir == "", nil },
		Declared: func(string) ([]RemovedSymbol, error) { return nil, nil },
		Read: func(p repo.Path, old bool) []byte {
			if old {
				return []byte("serve:\n\ttrue\ntest:\n\ttrue\n")
			}
			return []byte("test:\n\ttrue\n")
		},
	}
	text := "# Guide\n\n" +
		"Read `src/old.go`.\n\n" + // 3: renamed
		"Read `src/stays.go` and `src/never.go`.\n\n" +
		"All of `parsing/` is small.\n\n" + // 7: moved directory
		"Run `make serve`, then `make test`.\n\n" + // 9: removed target
		"Call `LoadAll()` or `src.Open`.\n\n" + // 11: both removed
		"Call `Open()`.\n" // still the name of something
	list, err := c.BrokenMentions("docs/guide.md", []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		line int
		text string
		to   repo.Path
	}
	var got []found
	for _, m := range list {
		got = append(got, found{m.Line, m.Text, m.To})
	}
	want := []found{{3, "src/old.go", "src/new.go"}, {7, "parsing/", "pkg"}, {9, "make serve", ""}, {11, "LoadAll()", ""}, {11, "src.Open", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("the change breaks %v, want %v", got, want)
	}
	past, err := c.BrokenMentions("CHANGELOG.md", []byte(text), false)
	if err != nil || len(past) > 0 {
		t.Errorf("in a changelog the change breaks %v (%v), want nothing", past, err)
	}
}

// regularFiles lists files with the same content.
func regularFiles(paths ...repo.Path) (list []repo.File) {
	for _, p := range paths {
		list = append(list, repo.File{Path: p, Mode: repo.Regular, ID: repo.IDFromBytes(slices.Repeat([]byte{1}, 20))})
	}
	return list
}

// brokenTexts returns the lines of a document that a change broke, as line:text.
func brokenTexts(t *testing.T, c *TreeChange, doc repo.Path, text string) []string {
	t.Helper()
	list, err := c.BrokenMentions(doc, []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprintf("%d:%s", m.Line, m.Text))
	}
	return got
}

// A bare name in a document often means a file of the reader's own project. The removal of a file of
// that name breaks the mention only if the document means that file.
func TestTreeChangeOfBareName(t *testing.T) {
	c := &TreeChange{After: regularFiles("main.go"), Before: regularFiles(
		"modules/web/example/caddy.json", "create/template-a/src/site-env.d.ts", "playground/env/local.env", "tests/unit/certs.pem",
		"a/deep/queue.go", "a/deep/stack.go", "b/deep/stack.go", "lib/quotas.toml",
	)}
	text := "# Guide\n\n" +
		"Use any file (`caddy.json` is one).\n\n" + // of an example
		"Add `site-env.d.ts` in `src`.\n\n" + // 5: of a template
		"Write `local.env` and `certs.pem`.\n\n" + // 7: of a playground and of a test
		"See `queue.go`.\n\n" + // 9: unique
		"See `stack.go`.\n\n" + // 11: one of two
		"Write for example `quotas.toml`.\n\n" + // 13: perhaps the reader's
		"See [queue](queue.go).\n\n" + // a link has a directory
		"See `modules/web/example/caddy.json`.\n" // 17: the whole path
	tests := []struct {
		doc  repo.Path
		want []string
	}{
		{"README.md", []string{"9:queue.go", "17:modules/web/example/caddy.json"}},
		{"b/README.md", []string{"9:queue.go", "11:stack.go", "17:modules/web/example/caddy.json"}},
		{"b/deep/README.md", []string{"9:queue.go", "11:stack.go", "17:modules/web/example/caddy.json"}},
		{"tests/unit/README.md", []string{"7:certs.pem", "9:queue.go", "17:modules/web/example/caddy.json"}},
	}
	for _, test := range tests {
		if got := brokenTexts(t, c, test.doc, text); !slices.Equal(got, test.want) {
			t.Errorf("in %s the change breaks %q, want %q", test.doc, got, test.want)
		}
	}
}

// A link to a heading is broken if the change removes the heading from the document.
func TestTreeChangeOfHeading(t *testing.T) {
	pages := regularFiles("docs/guide/features.md", "docs/guide/included.md", "docs/config/index.md", "docs/guide/api.md")
	edited := slices.Clone(pages)
	for i := range edited[:3] {
		edited[i].ID = repo.IDFromBytes(slices.Repeat([]byte{2}, 20))
	}
	c := &TreeChange{Before: pages, After: edited, Read: func(p repo.Path, before bool) []byte {
		switch {
		case before:
			return []byte("# Features\n\n## Lightning CSS\n\n## Workers\n")
		case p == "docs/guide/included.md":
			return []byte("# Features\n\n<!--@include: ./css.md-->\n\n## Workers\n")
		}
		return []byte("# Features\n\n## Workers\n\n## Styles\n")
	}}
	terms, err := c.SearchTerms()
	if want := []string{"#lightning-css"}; err != nil || !slices.Equal(terms, want) {
		t.Errorf("the change removes %q (%v), want %q", terms, err, want)
	}
	text := "# Guide\n\n" +
		"[a](/guide/features#lightning-css), [b](/guide/features#workers)\n\n" +
		"[c](./features.md#lightning-css), [d](features#never-was)\n\n" +
		"[e](/config/#Lightning-CSS), [f](../config/index.html#lightning-css)\n\n" +
		"[g](/guide/included#lightning-css), [h](api.md#lightning-css)\n\n" + // included from elsewhere, not edited
		"[i](#lightning-css), [j](/no/page#lightning-css)\n"
	want := []string{
		"3:/guide/features#lightning-css", "5:./features.md#lightning-css", "7:/config/#Lightning-CSS", "7:../config/index.html#lightning-css",
	}
	if got := brokenTexts(t, c, "docs/guide/ssr.md", text); !slices.Equal(got, want) {
		t.Errorf("the change breaks %q, want %q", got, want)
	}
	want = []string{"1:#lightning-css"}
	if got := brokenTexts(t, c, "docs/guide/features.md", "See [above](#lightning-css) and [below](#workers).\n"); !slices.Equal(got, want) {
		t.Errorf("in the same document the change breaks %q, want %q", got, want)
	}
}

// A link of a site leaves out the extension of a page and begins at the top of the site.
func TestTreeChangeOfPage(t *testing.T) {
	c := &TreeChange{
		Before:  regularFiles("docs/guide/ssr.md", "docs/guide/api.md", "docs/config/index.md"),
		After:   regularFiles("docs/guide/server-side.md", "docs/guide/api.md", "src/ssr/main.go"),
		Renamed: map[repo.Path]repo.Path{"docs/guide/ssr.md": "docs/guide/server-side.md"},
	}
	terms, err := c.SearchTerms()
	if want := []string{"/ssr", "config", "index.md", "ssr.md"}; err != nil || !slices.Equal(terms, want) {
		t.Errorf("the change removes %q (%v), want %q", terms, err, want)
	}
	text := "# Guide\n\n" +
		"[a](/guide/ssr), [b](/guide/ssr#setup), [c](./ssr.html), [d](/guide/ssr.md)\n\n" +
		"[e](/guide/api), [f](/other/ssr), `ssr`, `/guide/ssr`\n\n" +
		"[g](/config/), [h](./ssr)\n"
	want := []string{"3:/guide/ssr", "3:/guide/ssr#setup", "3:./ssr.html", "3:/guide/ssr.md", "7:/config/", "7:./ssr"}
	if got := brokenTexts(t, c, "docs/guide/api.md", text); !slices.Equal(got, want) {
		t.Errorf("the change breaks %q, want %q", got, want)
	}
}

// A mention that was corrected hides no other one in the same document.
func TestTreeChangeOfCorrectedMention(t *testing.T) {
	c := &TreeChange{
		Before:  regularFiles("requirements/tools.txt"),
		After:   regularFiles("requirements/dev.txt"),
		Renamed: map[repo.Path]repo.Path{"requirements/tools.txt": "requirements/dev.txt"},
	}
	text := "Tools\n=====\n\n" +
		"The tools are in :file:`requirements/dev.txt`.\n\n" +
		"Installing them:\n\n.. code-block:: console\n\n    $ pip install -U -r requirements/tools.txt\n"
	old := "# Guide\n\n- Read `requirements/tools.txt`.\n- Install `requirements/tools.txt`.\n"
	c.Before = append(c.Before, regularFiles("GUIDE.md")...)
	c.Read = func(repo.Path, bool) []byte { return []byte(old) }
	for text, want := range map[string]int{
		"# Guide\n\n- Read `requirements/dev.txt`.\n- Install `requirements/tools.txt`.\n":                 1,
		"# Guide\n\n- Read `requirements/dev.txt`: it was `requirements/tools.txt` in the last version.\n": 0,
	} {
		list, err := c.BrokenMentions("GUIDE.md", []byte(text), true)
		if err != nil || len(list) != want {
			t.Errorf("the change breaks %d mentions (%v) of %q, want %d", len(list), err, text, want)
		}
	}
	if got, want := brokenTexts(t, c, "CONTRIBUTING.rst", text), []string{"10:requirements/tools.txt"}; !slices.Equal(got, want) {
		t.Errorf("the change breaks %q, want %q", got, want)
	}
}
