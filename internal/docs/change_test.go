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
	files := func(paths ...repo.Path) (list []File) {
		for _, p := range paths {
			list = append(list, File{Path: p, Mode: repo.Regular, ID: repo.IDFromBytes(slices.Repeat([]byte{1}, 20))})
		}
		return list
	}
	makefile := repo.IDFromBytes(slices.Repeat([]byte{2}, 20))
	before := append(files("src/old.go", "src/stays.go", "parsing/a.go", "parsing/b.go"), File{Path: "Makefile", Mode: repo.Regular, ID: makefile})
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
	list, err := c.Broken("docs/guide.md", []byte(text), false)
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
	past, err := c.Broken("CHANGELOG.md", []byte(text), false)
	if err != nil || len(past) > 0 {
		t.Errorf("in a changelog the change breaks %v (%v), want nothing", past, err)
	}
}

// regularFiles lists files with the same content.
func regularFiles(paths ...repo.Path) (list []File) {
	for _, p := range paths {
		list = append(list, File{Path: p, Mode: repo.Regular, ID: repo.IDFromBytes(slices.Repeat([]byte{1}, 20))})
	}
	return list
}

// brokenTexts returns the lines of a document that a change broke, as line:text.
func brokenTexts(t *testing.T, c *TreeChange, doc repo.Path, text string) []string {
	t.Helper()
	list, err := c.Broken(doc, []byte(text), false)
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
		"Use any file (`caddy.json` is one).\n\n" + // 3: of an example
		"Add `site-env.d.ts` in `src`.\n\n" + // 5: of a template
		"Write `local.env` and `certs.pem`.\n\n" + // 7: of a playground and of a test
		"See `queue.go`.\n\n" + // 9: unique
		"See `stack.go`.\n\n" + // 11: one of two
		"Write for example `quotas.toml`.\n\n" + // 13: perhaps the reader's
		"See [queue](queue.go).\n\n" + // 15: a link says from where
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
