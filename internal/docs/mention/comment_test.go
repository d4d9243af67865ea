package mention

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"ken/internal/repo"
)

// A comment is put where it changes nothing else; "" if there is no such place.
func TestAcknowledge(t *testing.T) {
	const ok = "<!-- ken:ok a/b.go -->"
	for name, tt := range map[string]struct{ doc, before, text, want string }{
		"paragraph":         {"", "See `a/b.go` here.\nMore.\n", "a/b.go", "See `a/b.go` here. " + ok + "\nMore.\n"},
		"no line end":       {"", "See `a/b.go`", "a/b.go", "See `a/b.go` " + ok},
		"line break":        {"", "See `a/b.go`  \nMore.\n", "a/b.go", "See `a/b.go` " + ok + "  \nMore.\n"},
		"backslash":         {"", "See `a/b.go`\\\nMore.\n", "a/b.go", "See `a/b.go` " + ok + "\\\nMore.\n"},
		"CRLF":              {"", "x\r\nSee `a/b.go`.\r\n", "a/b.go", "x\r\nSee `a/b.go`. " + ok + "\r\n"},
		"list":              {"", "- x\n  - `a/b.go`\n- y\n", "a/b.go", "- x\n  - `a/b.go` " + ok + "\n- y\n"},
		"quote":             {"", "> `a/b.go`\n> y\n", "a/b.go", "> `a/b.go` " + ok + "\n> y\n"},
		"alert":             {"", "> [!NOTE] `a/b.go`\n> y\n", "a/b.go", ""},
		"heading":           {"", "x\n\n# `a/b.go`\ny\n", "a/b.go", "x\n\n" + ok + "\n\n# `a/b.go`\ny\n"},
		"heading with CRLF": {"", "x\r\n\r\n# `a/b.go`\r\ny\r\n", "a/b.go", "x\r\n\r\n" + ok + "\r\n\r\n# `a/b.go`\r\ny\r\n"},
		"mark":              {"", "\uFEFF# `a/b.go`\n", "a/b.go", "\uFEFF" + ok + "\n\n# `a/b.go`\n"},
		"front matter":      {"", "---\na: b\n---\n# `a/b.go`\n", "a/b.go", "---\na: b\n---\n" + ok + "\n\n# `a/b.go`\n"},
		"table":             {"", "x\n\n| f |\n|---|\n| `a/b.go` |\n", "a/b.go", "x\n\n" + ok + "\n\n| f |\n|---|\n| `a/b.go` |\n"},
		"table in a list":   {"", "- | f |\n  |---|\n  | `a/b.go` |\n", "a/b.go", ""},
		"directive":         {"", "::: note `a/b.go`\nx\n:::\n", "a/b.go", ok + "\n\n::: note `a/b.go`\nx\n:::\n"},
		"HTML":              {"", "x\n\n<img src=\"a/b.png\">\n", "a/b.png", "x\n\n<!-- ken:ok a/b.png -->\n\n<img src=\"a/b.png\">\n"},
		"definition":        {"", "[x]\n\n[x]: a/b.go\n", "a/b.go", "[x]\n\n" + ok + "\n\n[x]: a/b.go\n"},
		"MDX":               {"a.mdx", "See `a/b.go`.\n", "a/b.go", "See `a/b.go`. {/* ken:ok a/b.go */}\n"},
		"MDX glob":          {"a.mdx", "See `a/**/*.go`.\n", "a/**/*.go", ""},
		"heading in MDX":    {"a.mdx", "# `a/b.go`\n", "a/b.go", "{/* ken:ok a/b.go */}\n\n# `a/b.go`\n"},
		"code":              {"", "```sh\nsh a/b.sh\n```\n", "a/b.sh", ""},
		"not Markdown":      {"a.rst", "See ``a/b.go``.\n", "a/b.go", ""},
		"option":            {"", "Use `--dry-run` now.\n", "--dry-run", "Use `--dry-run` now. <!-- ken:ok dry-run -->\n"},
		"option, heading":   {"", "# `--dry-run`\n", "--dry-run", "<!-- ken:ok dry-run -->\n\n# `--dry-run`\n"},
		"spaces":            {"", "Run `make build-all`.\n", "make build-all", "Run `make build-all`. <!-- ken:ok `make build-all` -->\n"},
		"open backtick":     {"", "A ` b.\nRun `make build-all` c.\n", "make build-all", ""},
		"over two lines":    {"", "Run `make\nbuild-all` now.\n", "make build-all", "<!-- ken:ok `make build-all` -->\n\nRun `make\nbuild-all` now.\n"},
		"end of a comment":  {"", "See [x](a/-->.go).\n", "a/-->.go", ""},
		"other scripts":     {"", "See `データ/設定.go`.\n", "データ/設定.go", "See `データ/設定.go`. <!-- ken:ok データ/設定.go -->\n"},
		"twice":             {"", "`a/b.go` and\n`a/b.go`.\n", "a/b.go", "`a/b.go` and " + ok + "\n`a/b.go`.\n"},
		"below another":     {"", "<!-- ken:ok -->\n\n# Title\n\n`a/b.go`\n", "a/b.go", "<!-- ken:ok -->\n\n# Title\n\n`a/b.go` " + ok + "\n"},
	} {
		doc := repo.Path(tt.doc)
		if doc == "" {
			doc = "README.md"
		}
		read, err := Read(doc, []byte(tt.before))
		if err != nil {
			t.Fatal(err)
		}
		var after []byte
		found := false
		for _, m := range read.Mentions {
			if m.Text == tt.text && !found {
				found = true
				after, _, _ = Acknowledge([]byte(tt.before), &m)
			}
		}
		if !found && name != "open backtick" && name != "end of a comment" {
			t.Errorf("%s: no mention %q in %+v", name, tt.text, read.Mentions)
		}
		if string(after) != tt.want {
			t.Errorf("%s: got\n%q\nwant\n%q", name, after, tt.want)
		}
	}
}

var comments = regexp.MustCompile(`(?s)\s*<!-- ken:ok .*?-->|<p>\{/\* ken:ok .*?\*/\}</p>`)

// A comment for any mention of this project's documents changes nothing that a reader sees.
func TestAcknowledgeRendersTheSame(t *testing.T) {
	renderer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	render := func(text []byte) string {
		var out bytes.Buffer
		if err := renderer.Convert(text, &out); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(comments.ReplaceAllString(out.String(), "")), " ")
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*", "*.md"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	if more := os.Getenv("KEN_TEST_DOCUMENTS"); more != "" {
		err = filepath.WalkDir(more, func(name string, _ os.DirEntry, err error) error {
			if filepath.Ext(name) == ".md" {
				files = append(files, name)
			}
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	most := 5 // per document
	written, refused := 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read("README.md", text)
		if err != nil {
			continue
		}
		want := render(text)
		for i := 0; i < len(read.Mentions); i += 1 + len(read.Mentions)/most {
			m := read.Mentions[i]
			after, comment, ok := Acknowledge(text, &m)
			if !ok {
				if m.Form != Block && m.Form != Drawing && !m.Acked {
					refused++
				}
				continue
			}
			written++
			if line := strings.Split(string(after), "\n")[comment.Line-1]; !strings.Contains(line, comment.Text) {
				t.Errorf("%s: line %d is %q, without %s", name, comment.Line, line, comment.Text)
			}
			if got := render(after); got != want {
				t.Errorf("%s:%d: a comment for %q changes what a reader sees", name, m.Line, m.Text)
			}
		}
	}
	t.Logf("%d comments, %d mentions outside of code without a place", written, refused)
	if written < 100 {
		t.Errorf("only %d comments were written", written)
	}
}
