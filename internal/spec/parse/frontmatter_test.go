package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/spec/parse"

	"github.com/google/go-cmp/cmp"
)

// A front has the decoded fields of the frontmatter.
type front struct {
	Title, Desc, Declared, Session, Hue string
	Code, Related                       []string
	Extra                               []parse.Field
	Problems                            []parse.Problem // rules and lines
}

func frontOf(n *parse.Node) front {
	f := front{
		Title: n.Title, Desc: n.Desc, Declared: n.Declared, Session: n.Session, Hue: n.Hue,
		Extra: n.Extra, Problems: problemsOf(n),
	}
	for _, e := range n.Code {
		f.Code = append(f.Code, e.String())
	}
	for _, e := range n.Related {
		f.Related = append(f.Related, e.String())
	}
	return f
}

func frontProblem(line int) []parse.Problem {
	return []parse.Problem{{Rule: parse.RuleFrontmatter, Line: line}}
}

func entryProblem(line int) []parse.Problem {
	return []parse.Problem{{Rule: parse.RuleEntry, Line: line}}
}

// fronts are texts between --- lines and their decoded fields. Without a title field, the title is the
// directory name "node".
var fronts = []struct {
	name, text string
	want       front
}{
	{"empty", "", front{Title: "node"}},
	{"only a comment", "# nothing yet\n", front{Title: "node"}},
	{"all fields", `
title: The store
desc: keeps what was said
status: active
session: s-1
hue: 210
code:
  - store/a.go
  - store/b.go
related:
- docs/
surface: skill
`, front{
		Title: "The store", Desc: "keeps what was said", Declared: "active", Session: "s-1", Hue: "210",
		Code: []string{"store/a.go", "store/b.go"}, Related: []string{"docs/"},
		Extra: []parse.Field{{Name: "surface", Value: "skill", Line: 13}},
	}},
	{"texts that YAML has types for", "title: 12\ndesc: yes\nsession: null\nhue: ~\nstatus:\n", front{Title: "12", Desc: "yes"}},
	{"long texts", "title: >\n  a title\n  folded\ndesc: |\n  two\n  lines\n", front{Title: "a title folded", Desc: "two\nlines"}},
	{"comments", "title: a # by hand\ncode: [a.go] # all\n# the end\n", front{Title: "a", Code: []string{"a.go"}}},
	{"a # that is no comment", "title: mends #12\ndesc: the page #/list, and others\nhue: 4 #four\n", front{Title: "mends #12", Desc: "the page #/list, and others", Hue: "4"}},
	{"JSON", `{"title": "a", "code": ["a.go"], "n": {"x": [1, null, true]}}`, front{
		Title: "a", Code: []string{"a.go"},
		Extra: []parse.Field{{Name: "n", Value: map[string]any{"x": []any{"1", nil, "true"}}, Line: 2}},
	}},

	{"one path", "code: a.go\nrelated: 'b, c.md'\n", front{Title: "node", Code: []string{"a.go"}, Related: []string{"b, c.md"}}},
	{"paths and commas", "code: a.go, \"b, c.go\" ,src/{d,e}.go\n", front{Title: "node", Code: []string{"a.go", "b, c.go", "src/{d,e}.go"}}},
	{"paths line by line", "code: |\n  a.go\n\n  b.go\n", front{Title: "node", Code: []string{"a.go", "b.go"}}},
	{"paths tidied", "code: [./a.go, 'src\\\\b.go', src//c.go, a.go, ' ', ~]\n", front{Title: "node", Code: []string{"a.go", "src/b.go", "src/c.go"}}},
	{"paths of all kinds", "code:\n- it's \"here\".go\n- mit Leer zeichen.go\n- übung/日本.go\n- \"a: b.go\"\n", front{
		Title: "node", Code: []string{`it's "here".go`, "mit Leer zeichen.go", "übung/日本.go", "a: b.go"},
	}},
	{"symbols", "code: [a.go#New, 'b.go#T.m']\n", front{Title: "node", Code: []string{"a.go#New", "b.go#T.m"}}},
	{"no list", "code: []\nrelated:\n", front{Title: "node"}},
	{"an absolute path", "code:\n- a.go\n- /etc/passwd\n- b.go\n", front{Title: "node", Code: []string{"a.go", "b.go"}, Problems: entryProblem(4)}},
	{"a path that climbs", "related: ../other/a.go\n", front{Title: "node", Problems: entryProblem(2)}},
	{"a glob without sense", "code: ['src/[a', src/*.go]\n", front{Title: "node", Code: []string{"src/*.go"}, Problems: entryProblem(2)}},

	{"a title that is a list", "title: [a, b]\ndesc: {a: b}\nhue: 3\n", front{
		Title: "node", Hue: "3",
		Problems: []parse.Problem{{Rule: parse.RuleFrontmatter, Line: 2}, {Rule: parse.RuleFrontmatter, Line: 3}},
	}},
	{"paths that are fields", "code:\n- a.go: all of it\n- [b.go]\n- c.go\n", front{
		Title: "node", Code: []string{"c.go"},
		Problems: []parse.Problem{{Rule: parse.RuleFrontmatter, Line: 3}, {Rule: parse.RuleFrontmatter, Line: 4}},
	}},
	{"code that is fields", "code:\n  a.go: all of it\n", front{Title: "node", Problems: frontProblem(3)}},
	{"a field twice", "title: a\ndesc: d\ntitle: b\n", front{Title: "a", Desc: "d", Problems: frontProblem(4)}},
	{"a field without a name", "title: a\n? [x]\n: y\n", front{Title: "a", Problems: frontProblem(3)}},
	{"aliases", "x: &x [a.go, b.go]\ncode: *x\n", front{
		Title: "node", Code: []string{"a.go", "b.go"},
		Extra: []parse.Field{{Name: "x", Value: []any{"a.go", "b.go"}, Line: 2}},
	}},
	{"an alias within itself", "x: &x [*x]\ntitle: a\ny: z\n", front{
		Title: "a", Problems: frontProblem(2), Extra: []parse.Field{{Name: "y", Value: "z", Line: 4}},
	}},

	// Invalid YAML that people write.
	{"a colon in a text", "title: Drift: what moved\ndesc: one rule: ask git\ncode:\n  - a.go\n", front{
		Title: "Drift: what moved", Desc: "one rule: ask git", Code: []string{"a.go"},
	}},
	{"a text that opens like code", "title: `ken` — the program\ndesc: [[store]] and what is above\nhue: @4\n", front{
		Title: "`ken` — the program", Desc: "[[store]] and what is above", Hue: "@4",
	}},
	{"quotes beside a colon", "title: \"a: b\"\ndesc: 'it''s' and: more\nsession: 's: 1'\n", front{
		Title: "a: b", Desc: "'it''s' and: more", Session: "s: 1",
	}},
	{"quotes that do not close", "title: \"a\ndesc: b\n", front{Title: "\"a", Desc: "b"}},
	{"no space behind the colon", "title:short\ncode:a.go\n", front{Title: "short", Code: []string{"a.go"}}},
	{"tabs", "title: a\ncode:\n\t- a.go\n\t- b.go\n", front{Title: "a", Code: []string{"a.go", "b.go"}}},
	{"globs without quotes", "code:\n- **/*.go   # all of it\n- *.md\n- {a,b}.ts\nrelated: *.txt, [id]/x.ts\n", front{
		Title: "node", Code: []string{"**/*.go", "*.md", "{a,b}.ts"}, Related: []string{"*.txt", "[id]/x.ts"},
	}},
	{"lists in a line", "desc: a: b\ncode: [*.go, \"b, c.go\"] # some\nrelated: a.md, @b.md\nsurface: skill, command\n", front{
		Title: "node", Desc: "a: b", Code: []string{"*.go", "b, c.go"}, Related: []string{"a.md", "@b.md"},
		Extra: []parse.Field{{Name: "surface", Value: "skill, command", Line: 5}},
	}},
	{"unknown fields in plain lines", "note: a: b\nkinds:\n- one: two\n- @three\n", front{
		Title: "node", Extra: []parse.Field{{Name: "note", Value: "a: b", Line: 2}, {Name: "kinds", Value: []any{"one: two", "@three"}, Line: 3}},
	}},
	{"a text that goes on below", "desc: first: this\n  and then that\n\n  # not that\n", front{Title: "node", Desc: "first: this and then that # not that"}},
	{"a block beside a colon", "title: a: b\ndesc: >\n  one\n  two: three\n# end\ncode:\n- a.go\n", front{
		Title: "a: b", Desc: "one two: three", Code: []string{"a.go"},
	}},
	{"a list over several lines beside a colon", "'title': a: b\n\"code\": [\n  a.go,\n  b.go\n]\nx: {\n  y: z\n}\n", front{
		Title: "a: b", Code: []string{"a.go", "b.go"}, Extra: []parse.Field{{Name: "x", Value: map[string]any{"y": "z"}, Line: 7}},
	}},
	{"a list where a text belongs", "title: a: b\n- c\ndesc: d\n", front{Title: "node", Desc: "d", Problems: frontProblem(2)}},
	{"a conflict", "title: a\n<<<<<<< HEAD\ncode:\n- a.go\n=======\n- b.go\n>>>>>>> other\n", front{
		Title: "a", Code: []string{"a.go", "b.go"},
		Problems: []parse.Problem{{Rule: parse.RuleConflict, Line: 3}, {Rule: parse.RuleFrontmatter, Line: 3}, {Rule: parse.RuleFrontmatter, Line: 6}, {Rule: parse.RuleFrontmatter, Line: 8}},
	}},
	{"prose", "just words\n", front{Title: "node", Problems: frontProblem(2)}},
	{"a list and no field", "- a\n- b: c: d\n", front{
		Title:    "node",
		Problems: []parse.Problem{{Rule: parse.RuleFrontmatter, Line: 2}, {Rule: parse.RuleFrontmatter, Line: 3}},
	}},
	{"a second document", "title: a\n...\ncode: b.go\n", front{Title: "a", Code: []string{"b.go"}, Problems: frontProblem(3)}},
	{"fields below a text", "desc: a: b\n  code: a.go\n", front{Title: "node", Desc: "a: b", Problems: frontProblem(3)}},
	{"lines below a list", "code:\n- *.go\n  go on\n", front{Title: "node", Code: []string{"*.go"}, Problems: frontProblem(4)}},
	{"bytes", "title: caf\xe9\ncode:\n- caf\xe9.go\n", front{Title: "caf\xe9", Code: []string{"caf\xe9.go"}, Problems: []parse.Problem{{Rule: parse.RuleFile, Line: 2}}}},
}

func TestFrontmatter(t *testing.T) {
	for _, tt := range fronts {
		t.Run(tt.name, func(t *testing.T) {
			content := "---\n" + tt.text
			if !strings.HasSuffix(content, "\n") {
				content += "\n"
			}
			content += "---\nbody\n"
			n := one(t, content)
			if d := cmp.Diff(tt.want, frontOf(n)); d != "" {
				t.Errorf("frontmatter (-want +got):\n%s", d)
			}
			if n.Body != "body\n" {
				t.Errorf("the body is %q", n.Body)
			}
			for _, p := range n.Problems {
				if p.Message == "" || p.Fix == "" || strings.ContainsAny(p.Message+p.Fix, "\n\r") {
					t.Errorf("incomplete problem %+v", p)
				}
			}

			// CRLF line ends and a byte order mark change nothing.
			dos := one(t, "\uFEFF"+strings.ReplaceAll(content, "\n", "\r\n"))
			if d := cmp.Diff(n, dos); d != "" {
				t.Errorf("with CRLF: %s", d)
			}
		})
	}
}

func TestFrontmatterPosition(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		title, body string
		problems    []parse.Problem
	}{
		{"nothing at all", "", "node", "", nil},
		{"none", "# Heading\n", "Heading", "# Heading\n", nil},
		{"not at the top", "\n---\ntitle: a\n---\n", "node", "\n---\ntitle: a\n---\n", nil},
		{"no body", "---\ntitle: a\n---", "a", "", nil},
		{"space behind the rules", "--- \ntitle: a\n---\t\nb", "a", "b", nil},
		{"longer rules", "----\ntitle: a\n----\n", "node", "----\ntitle: a\n----\n", nil},
		{"a rule in the body", "---\ntitle: a\n---\nb\n---\nc", "a", "b\n---\nc", nil},
		{"empty", "---\n---\nb", "node", "b", nil},
		{"unterminated", "---\ntitle: a\n# Heading\n", "Heading", "---\ntitle: a\n# Heading\n", frontProblem(1)},
		{"a rule alone", "---", "node", "---", frontProblem(1)},
		{"UTF-16", "\xff\xfe-\x00-\x00", "node", "\xff\xfe-\x00-\x00", []parse.Problem{{Rule: parse.RuleFile, Line: 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := one(t, tt.text)
			if n.Title != tt.title || n.Body != tt.body {
				t.Errorf("title %q, body %q", n.Title, n.Body)
			}
			if d := cmp.Diff(tt.problems, problemsOf(n)); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
		})
	}
}

// A file beyond the size limit is read up to the limit, so that it still governs its code.
func TestTooLarge(t *testing.T) {
	head := "---\ncode: a.go\n---\n## raw source\n"
	line := strings.Repeat("x", 99) + "\n"
	n := one(t, head+strings.Repeat(line, 20_000))
	if len(n.Code) != 1 || n.Parts == nil || len(n.Body) > 1<<20 || !strings.HasSuffix(n.Body, line) {
		t.Errorf("code %v, body of %d bytes", n.Code, len(n.Body))
	}
	if p := problemsOf(n); len(p) != 1 || p[0].Rule != parse.RuleFile || p[0].Line != 4+(1<<20-len(head))/100+1 {
		t.Errorf("the problems are %+v; want one about the size of the file, at the line where it is cut", n.Problems)
	}
	if n := one(t, strings.Repeat("x", 1<<20)); n.Problems != nil || len(n.Body) != 1<<20 {
		t.Errorf("at the limit: %+v", n.Problems)
	}
}

// Aliases and long lists cannot make a node much larger than its file.
func TestAliasBombs(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("---\na: &a [x, x]\n")
	for c := 'b'; c <= 'z'; c++ {
		fmt.Fprintf(&laughs, "%c: &%c [*%c, *%c]\n", c, c, c-1, c-1)
	}
	laughs.WriteString("code: *z\ntitle: still here\n---\n")
	n := one(t, laughs.String())
	if n.Title != "still here" || len(n.Problems) == 0 || len(n.Extra) == 0 || len(n.Extra) == 26 {
		t.Errorf("title %q, %d fields, %v", n.Title, len(n.Extra), n.Problems)
	}

	n = one(t, "---\ncode:\n"+strings.Repeat("- /abs\n", 1000)+"- a.go\n---\n")
	if len(n.Code) != 1 || len(n.Problems) != 51 {
		t.Errorf("%d problems, code %v", len(n.Problems), n.Code)
	}
	var many strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&many, "- f%d.go\n", i)
	}
	n = one(t, "---\ncode:\n"+many.String()+"---\n")
	if d := cmp.Diff(frontProblem(5003), problemsOf(n)); len(n.Code) != 5000 || d != "" {
		t.Errorf("%d entries were read; want 5000. Problems (-want +got):\n%s", len(n.Code), d)
	}
}
