package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ken/internal/docs/mention"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/testcost"
)

func censusOf(paths ...string) *treeIndex {
	var list []repo.File
	for i, p := range paths {
		mode := repo.Regular
		if p, ok := strings.CutSuffix(p, "@"); ok {
			list = append(list, repo.File{Path: repo.Path(p), Mode: repo.Symlink})
			continue
		}
		list = append(list, repo.File{Path: repo.Path(p), Mode: mode, ID: repo.SHA1.Blob([]byte{byte(i)})})
	}
	return newTreeIndex(list)
}

func TestHoldsPath(t *testing.T) {
	c := censusOf("README.md", "docs/guide.md", "docs/deep/page.md", "api/server.go", "api/v1/index.ts", "web/a/util.ts",
		"web/b/util.ts", "site/about.md", "linked@", "docs/cli-js.md", "docs/cli.de.md", "docs/cli-notes.md")
	for _, tt := range []struct {
		doc, name string
		m         mention.Mention
		want      bool
	}{
		{"docs/guide.md", "deep/page.md", mention.Mention{}, true},
		{"docs/deep/page.md", "guide.md", mention.Mention{}, true}, // from the directory above
		{"docs/guide.md", "api/server.go", mention.Mention{}, true},
		{"docs/guide.md", "../api/server.go", mention.Mention{}, true},
		{"docs/guide.md", "/api/server.go", mention.Mention{}, true},
		{"docs/guide.md", "api", mention.Mention{Dir: true}, true},
		{"docs/guide.md", "v1/index.ts", mention.Mention{}, true}, // it is shortened
		{"docs/guide.md", "util.ts", mention.Mention{}, true},     // one of them is meant
		{"docs/guide.md", "x/util.ts", mention.Mention{}, false},
		{"docs/guide.md", "api/v1", mention.Mention{}, true},
		{"docs/guide.md", "api/server", mention.Mention{}, true}, // a module
		{"docs/guide.md", "site/about.html", mention.Mention{Form: mention.Link}, true},
		{"docs/guide.md", "api/v1/index.js", mention.Mention{Form: mention.Code}, true},
		{"docs/guide.md", "api/v1/index.js", mention.Mention{Form: mention.Link}, false},
		{"docs/guide.md", "linked/anything.go", mention.Mention{}, true}, // paths behind a link are unknown
		{"docs/guide.md", "server.go", mention.Mention{In: "api"}, true},
		{"docs/guide.md", "nothing.go", mention.Mention{}, false},
		{"docs/guide-js.md", "./cli.md", mention.Mention{Form: mention.Link}, true}, // the page in its language
		{"docs/guide.de.md", "cli.md", mention.Mention{Form: mention.Link}, true},
		{"docs/guide.fr.md", "cli.md", mention.Mention{Form: mention.Link}, false},
		{"docs/guide-notes.md", "cli.md", mention.Mention{Form: mention.Link}, false},
		{"docs/guide.md", "cli.md", mention.Mention{Form: mention.Link}, false},
		{"docs/guide.md", "erver.go", mention.Mention{}, false},
		{"docs/guide.md", "api/*.go", mention.Mention{Glob: true}, true},
		{"docs/guide.md", "v1/*.ts", mention.Mention{Glob: true}, true},
		{"docs/guide.md", "api/*.rs", mention.Mention{Glob: true}, false},
		{"docs/guide.md", "api/[", mention.Mention{Glob: true}, false},
	} {
		m := tt.m
		m.File, m.Name, m.Kind = repo.Path(tt.doc), tt.name, mention.Path
		if got := c.holdsPath(&m, possiblePaths(m.File, &m, false)); got != tt.want {
			t.Errorf("%s in %s: holds %v", tt.name, tt.doc, got)
		}
	}
}

// A path that leads out of the repository means nothing. A strict bare name means only those from the document's
// directory and from the root.
func TestPossiblePaths(t *testing.T) {
	for _, tt := range []struct {
		doc, name string
		strict    bool
		want      string
	}{
		{"a/b/c.md", "x/y.go", true, "a/b/x/y.go a/x/y.go x/y.go"},
		{"a/b/c.md", "y.go", true, "a/b/y.go y.go"},
		{"a/b/c.md", "y.go", false, "a/b/y.go a/y.go y.go"},
		{"a/b/c.md", "../../../y.go", true, ""},
		{"a/b/c.md", "../y.go", true, "a/y.go y.go"},
		{"a.md", "y.go", true, "y.go"},
		{"a/b.md", "/y.go", true, "y.go"},
		{"a/b.md", "..", true, ""},
	} {
		got := strings.Join(possiblePaths(repo.Path(tt.doc), &mention.Mention{Name: tt.name}, tt.strict), " ")
		if got != tt.want {
			t.Errorf("%s in %s: %q, want %q", tt.name, tt.doc, got, tt.want)
		}
	}
}

func TestContainsName(t *testing.T) {
	for text, want := range map[string]bool{
		"see api/a.go.": true, "api/a.go": true, "xapi/a.go api/a.gox": false, "xapi/a.go api/a.go": true,
		"api/a.goé": false, "\xffapi/a.go\xff": true, "": false,
	} {
		if got := containsName([]byte(text), "api/a.go"); got != want {
			t.Errorf("containsName(%q) = %t; want %t", text, got, want)
		}
	}
	if containsName([]byte("anything"), "") {
		t.Error("every text contains the empty name")
	}
}

func TestTaskFiles(t *testing.T) {
	for _, tt := range []struct {
		tool, text, want string
		open             bool
	}{
		{"make", ".PHONY: all \\\n  dist\nall: x.o y.o\n\techo: no\nx.o y.o: x.c\nV := 1\nW = a:b\nfoo::\n# c: d\n", "all dist foo x.o y.o", false},
		{"make", "include a.mk\na:\n", "a", true},
		{"make", "%.o: %.c\n", "%.o", true},
		{"make", "$(BIN): x\n", "$(BIN)", true},
		{"npm", `{"scripts": {"a": "b"}, "devDependencies": {"@x/jest": "1"}}`, "a jest", false},
		{"npm", `{`, "", true},
		{"just", "default: build\nbuild arg='x':\n  y\nv := 'z'\nalias b := build\n@quiet:\n", "b build default quiet", false},
		{"just", "mod other\n", "", true},
		{"task", "version: '3'\ntasks:\n  build:\n    cmds: [x]\n", "build cmds", false},
		{"rake", "task :a => :b do\nend\ntask('c')\n", "a c", true},
	} {
		r := taskFiles[tt.tool].commands([]byte(tt.text))
		var names []string
		for n := range r.names {
			names = append(names, n)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != tt.want || r.open != tt.open {
			t.Errorf("the names in %s %q are %q, open %t; want %q, open %t", tt.tool, tt.text, got, r.open, tt.want, tt.open)
		}
	}
}

func TestFix(t *testing.T) {
	const text = "See [a](./old/a.go), `old/a.go` and `docs/old/a.go`."
	at := func(s string, n int) mention.Span {
		i := -1
		for range n {
			i += 1 + strings.Index(text[i+1:], s)
		}
		return mention.Span{Start: i, End: i + len(s)}
	}
	moved := func(name string, span mention.Span, form mention.Form, was, to string) CheckedMention {
		return CheckedMention{
			Mention: mention.Mention{File: "docs/g.md", Line: 1, Name: name, At: span, Form: form, Kind: mention.Path},
			Verdict: Moved, To: repo.Path(to), Was: repo.Path(was),
		}
	}
	list := []CheckedMention{
		moved("docs/old/a.go", at("docs/old/a.go", 1), mention.Code, "docs/old/a.go", "new/a.go"),
		moved("old/a.go", at("old/a.go", 1), mention.Link, "docs/old/a.go", "new/a.go"),
		moved("old/a.go", at("old/a.go", 2), mention.Code, "docs/old/a.go", "new/a.go"),
	}
	got, fixed := Fix("docs/g.md", []byte(text), list)
	if want := "See [a](../new/a.go), `../new/a.go` and `new/a.go`."; string(got) != want || len(fixed.Edits) != 3 {
		t.Errorf("Fix returned %s, %v; want 3 edits that give %s", got, fixed, want)
	}
	for name, tt := range map[string]struct {
		change func(j *CheckedMention)
		why    string // of a mention that stays stale
	}{
		"it is not there letter by letter":   {func(j *CheckedMention) { j.At.Start++ }, "the document writes it differently"},
		"it is hidden":                       {func(j *CheckedMention) { j.Hidden = HiddenHedged }, ""},
		"it is gone":                         {func(j *CheckedMention) { j.Verdict, j.Why = Gone, "gone" }, "gone"},
		"its new name has to be escaped":     {func(j *CheckedMention) { j.To = "a`b.go" }, "its new name would have to be escaped"},
		"it is in running text":              {func(j *CheckedMention) { j.To, j.Form = "a b.go", mention.Word }, "its new name would have to be escaped"},
		"it is beyond the end":               {func(j *CheckedMention) { j.At.End = 1000 }, "the document writes it differently"},
		"it is of another document":          {func(j *CheckedMention) { j.File = "x.md" }, ""},
		"where it is said to be has changed": {func(j *CheckedMention) { j.In = "old" }, "its directory may be another one now"},
	} {
		one := slices.Clone(list[:1])
		tt.change(&one[0])
		got, fixed := Fix("docs/g.md", []byte(text), one)
		if string(got) != text || len(fixed.Edits) != 0 {
			t.Errorf("%s: Fix returned %s, %v; want no edits", name, got, fixed.Edits)
		}
		if left := fixed.Unfixed; len(left) > 1 || len(left) == 1 && left[0].Why != tt.why || len(left) == 0 && tt.why != "" {
			t.Errorf("%s: Fix left %v; want the reason %q", name, left, tt.why)
		}
	}
}

func TestEncodePath(t *testing.T) {
	for _, tt := range []struct {
		name, doc string
		form      mention.Form
		want      string
	}{
		{"a/my file (1).go", "g.md", mention.Code, "a/my file (1).go"},
		{"a/my file (1).go", "g.md", mention.Link, "a/my%20file%20%281%29.go"},
		{"a/my file.go", "g.rst", mention.Link, ""},
		{"a/my file.go", "g.md", mention.Block, ""},
		{"a/é.go", "g.md", mention.Link, "a/%C3%A9.go"},
		{"a/é.go", "g.md", mention.Code, "a/é.go"},
		{"a/`.go", "g.md", mention.Code, ""},
		{"a/b\nc.go", "g.md", mention.Code, ""},
		{"a/\xff.go", "g.md", mention.Code, ""},
		{"c:d.md", "g.md", mention.Link, "c%3Ad.md"},
	} {
		if got, ok := encodePath(tt.name, repo.Path(tt.doc), tt.form); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%q as %s in %s: %q, %v", tt.name, tt.form, tt.doc, got, ok)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range [][3]string{
		{"a/b", "a/b/c.go", "c.go"},
		{"a/b", "a/c.go", "../c.go"},
		{"a/b", "c/d.go", "../../c/d.go"},
		{"", "c.go", "c.go"},
		{"a/b", "a", ".."},
		{"a", "ab/c.go", "../ab/c.go"},
		{"a", "a", "."},
	} {
		if got := relative(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s from %s: %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
}

func TestQuotes(t *testing.T) {
	for text, want := range map[string]bool{
		`mkdir("memory/runs")`: true, `open("./memory/runs/a.json")`: true, "`memory/runs`": true,
		`open("x/memory/runs")`: false, `"memory/runs2"`: false, `// memory/runs`: false, `memory/runs`: false,
		`memory/runs and "memory/runs"`: true,
	} {
		if got := quotes([]byte(text), "memory/runs"); got != want {
			t.Errorf("quotes(%q) = %t; want %t", text, got, want)
		}
	}
}

// The time is linear in the number of mentions.
func TestJudgeBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var paths []string
	for i := range 2_000 {
		paths = append(paths, fmt.Sprintf("d%d/f%d.txt", i%50, i))
	}
	for name, bomb := range map[string]func(n int) *judge{
		"a drawing": func(n int) *judge {
			text := []byte("# t\n```\nproj\n")
			for i := range n {
				text = fmt.Appendf(text, "├── file%d.go\n", i)
			}
			j := &judge{index: newTreeIndex(nil)}
			if _, _, err := readMentions("README.md", append(text, "```\n"...)); err != nil {
				t.Fatal(err)
			}
			return j
		},
		"globs": func(n int) *judge {
			c := censusOf(paths...)
			for i := range n {
				m := mention.Mention{File: "README.md", Kind: mention.Path, Glob: true, Name: fmt.Sprintf("*/**/a%d*/b*.txt", i)}
				c.holdsPath(&m, possiblePaths(m.File, &m, false))
			}
			return &judge{index: c}
		},
		"what has gone": func(n int) *judge {
			j := &judge{report: &Report{Documents: []DocumentCounts{{"README.md", make(map[fresh.Verdict]int)}}}}
			for i := range n {
				m := CheckedMention{Mention: mention.Mention{File: "README.md", Line: 2 * i, Kind: mention.Path, Name: fmt.Sprintf("src/x%d.go", i)}, Verdict: Gone, ExistedThen: true}
				switch i % 3 {
				case 0:
					m.Verdict, m.To = Moved, "src/y.go"
				case 1:
					m.Verdict = Holds
				}
				j.list = append(j.list, m)
			}
			j.tally()
			return j
		},
	} {
		testcost.Linear(t, name, 2_000, func(n int) { bomb(n) })
	}
}

// A line that describes a move needs no report.
func TestDocumentStatements(t *testing.T) {
	list := []CheckedMention{
		{Mention: mention.Mention{File: "a.md", Line: 4, Kind: mention.Path, Name: "new.go"}, Verdict: Holds},
		{Mention: mention.Mention{File: "a.md", Line: 4, Kind: mention.Path, Name: "old.go"}, Verdict: Moved, ExistedThen: true, To: "new.go"},
		{Mention: mention.Mention{File: "a.md", Line: 5, Kind: mention.Path, Name: "old.go"}, Verdict: Moved, ExistedThen: true, To: "new.go"},
		{Mention: mention.Mention{File: "a.md", Line: 6, Kind: mention.Path, Name: "x.go"}, Verdict: Gone, ExistedThen: true},
		{Mention: mention.Mention{File: "a.md", Line: 99, Kind: mention.Path, Name: "x.go", Hedged: true, SaidGone: true}, Verdict: Gone, ExistedThen: true, Hidden: HiddenHedged},
		{Mention: mention.Mention{File: "b.md", Line: 1, Kind: mention.Path, Name: "x.go"}, Verdict: Gone, ExistedThen: true},
	}
	told := new(judge).statementsOf(list)
	var got []string
	for i := range list {
		got = append(got, told.hidden(&list[i]))
	}
	if want := []string{"holds", HiddenExplained, "", "", HiddenHedged, ""}; !slices.Equal(got, want) {
		t.Errorf("the reasons to hide mentions are %q; want %q", got, want)
	}
}
