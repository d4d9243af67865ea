package mention

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ken/internal/markup"
	"ken/internal/repo"
)

// formatMentions formats each mention as a line: kind, form, name, and other facts.
func formatMentions(ms []Mention) []string {
	var out []string
	for _, m := range ms {
		s := fmt.Sprintf("%d %s %s %s", m.Line, m.Kind, m.Form, m.Name)
		if m.Tool != "" {
			s += " by " + m.Tool
		}
		if m.In != "" {
			s += " in " + m.In
		}
		for _, flag := range []struct {
			is   bool
			name string
		}{{m.Dir, "dir"}, {m.Glob, "glob"}, {m.Hedged, "hedged"}, {m.Acked, "acked"}, {m.At == Span{}, "nowhere"}} {
			if flag.is {
				s += " " + flag.name
			}
		}
		out = append(out, s)
	}
	return out
}

func read(t *testing.T, path repo.Path, content string) *Document {
	t.Helper()
	doc, err := Read(path, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	check(t, content, doc)
	return doc
}

// check checks invariants of every document that was read.
func check(t *testing.T, content string, doc *Document) {
	t.Helper()
	at := 0
	for _, m := range doc.Mentions {
		if m.Name == "" || m.Text == "" || m.Kind == "" || m.Form == "" || m.File != doc.Path {
			t.Errorf("a mention is incomplete: %+v", m)
		}
		if m.Line < at {
			t.Errorf("line %d after line %d: %+v", m.Line, at, m)
		}
		at = m.Line
		if n := strings.Count(content, "\n") + 1; m.Line < 1 || m.Line > n {
			t.Errorf("line %d of %d: %+v", m.Line, n, m)
		}
		if m.At == (Span{}) {
			continue
		}
		if m.At.Start < 0 || m.At.End > len(content) || m.At.Start >= m.At.End || content[m.At.Start:m.At.End] != m.Name {
			t.Errorf("the document does not have the name at %v: %+v", m.At, m)
			continue
		}
		// A command may span several lines, and its last word may be on a later one.
		if n := strings.Count(content[:m.At.Start], "\n") + 1; m.Line > n || m.Line < n && m.Kind != Command && !strings.ContainsAny(m.Text, " ") {
			t.Errorf("line %d, but the name is on line %d: %+v", m.Line, n, m)
		}
	}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("mention %d:\n got %s\nwant %s", i, g, w)
		}
	}
}

// A code span names one thing, or nothing.
func TestSpansOfCode(t *testing.T) {
	for _, c := range []struct{ span, want string }{
		{"internal/git/open.go", "path internal/git/open.go"},
		{"open.go", "path open.go"},
		{" open.go ", "path open.go"},
		{"src/", "path src/"},
		{"./scripts/x.sh", "path scripts/x.sh"},
		{"../shared/x.ts", "path ../shared/x.ts"},
		{"src/foo_x.ts:12", "path src/foo_x.ts"},
		{"src/foo_x.ts:12:5", "path src/foo_x.ts"},
		{"open.go:12-30", "path open.go"},
		{"open.go#L12", "path open.go"},
		{"open.go#L12-L30", "path open.go"},
		{"open.go:Open", "path open.go"},
		{"tests/test_a.py::TestA::test_b", "path tests/test_a.py"},
		{"docs/a.md#anchor", "path docs/a.md"},
		{`src\a\b.cs`, "path src/a/b.cs"},
		{"internal/git", "path internal/git"},
		{"internal/git/...", "path internal/git/"},
		{"./internal/...", "path internal/"},
		{".github/workflows/ci.yml", "path .github/workflows/ci.yml"},
		{".gitignore", "path .gitignore"},
		{".eslintrc.json", "path .eslintrc.json"},
		{"Makefile", "path Makefile"},
		{"cmd/ken/Dockerfile", "path cmd/ken/Dockerfile"},
		{"package.json", "path package.json"},
		{"app/[id]/page.tsx", "path app/[id]/page.tsx"},
		{"src/**/*.ts", "glob src/**/*.ts"},
		{"src/{a,b}.ts", "glob src/{a,b}.ts"},
		{"/docs/setup.md", "path /docs/setup.md"},
		{"文档/说明.md", "path 文档/说明.md"},
		{"FooBar", "symbol FooBar"},
		{"fooBar", "symbol fooBar"},
		{"HTTPServer", "symbol HTTPServer"},
		{"foo_bar", "symbol foo_bar"},
		{"foo_bar()", "symbol foo_bar"},
		{"open()", ""},
		{"reopen()", "symbol reopen"},
		{"render(a, b)", "symbol render"},
		{"pkg.Func", "symbol pkg.Func"},
		{"Type.method", "symbol Type.method"},
		{"Type::method", "symbol Type.method"},
		{"Type#method", "symbol Type.method"},
		{"(*T).M", "symbol T.M"},
		{"(*Reader).Read()", "symbol Reader.Read"},
		{`App\Http\Kernel`, "symbol App.Http.Kernel"},
		{"internal/git.Open", "symbol git.Open"},
		{"make test", "command test by make"},
		{"make -j4 build", "command build by make"},
		{"make -C sub all", "command all by make in sub"},
		{"make test VERBOSE=1", "command test by make"},
		{"npm run build", "command build by npm"},
		{"npm test", "command test by npm"},
		{"npm run build -- --watch", "command build by npm"},
		{"yarn lint", "command lint by yarn"},
		{"pnpm run x:y", "command x:y by pnpm"},
		{"just release", "command release by just"},
		{"go test ./internal/x", "path internal/x"},
		{"go test ./internal/x/...", "path internal/x/"},
		{"python scripts/run.py --fast", "path scripts/run.py"},
		{"./gradlew test", "path gradlew"},
		{"FOO=1 make test", "command test by make"},
		{"cd sub/dir && make all", "path sub/dir/; command all by make in sub/dir"},
		{"cp .env.example .env", "path .env.example"},

		{"*.go", ""},
		{"**/*.go", ""},
		{"src/<name>.go", ""},
		{"src/{id}.go", ""},
		{"$HOME/x.go", ""},
		{"path/to/file.go", ""},
		{"foo/bar", ""},
		{"foo.go", ""},
		{"src/foo.go", ""},
		{"...", ""},
		{"src/...", "path src/"},
		{"https://a.b/c.go", ""},
		{"example.com/x", ""},
		{"github.com/x/y", ""},
		{"golang.org/x/sys", ""},
		{"text/html", ""},
		{"application/json", ""},
		{"1.2.3", ""},
		{"v1.2", ""},
		{"2024/01/02", ""},
		{"and/or", ""},
		{"client/server", ""},
		{"--output=x/y.go", "option output"},
		{"-o", ""},
		{"me@example.com", ""},
		{"@scope/pkg", ""},
		{"HOME_DIR", "symbol HOME_DIR"},
		{"~/x.go", ""},
		{"/etc/passwd", ""},
		{"/etc/ssh/sshd.conf", ""},
		{"true", ""},
		{"nil", ""},
		{"200", ""},
		{"/api/x", ""},
		{"GET /x", ""},
		{"origin/main", ""},
		{"my file.go", ""},
		{"net/http.Client", ""},
		{"_posts", ""},
		{"Node.js", ""},
		{"Note", "symbol Note"},
		{"Error", "symbol Error"},
		{"Box", ""},
		{"word", ""},
		{"kebab-case", "option kebab-case"},
		{"camelCase", ""},
		{"e.g.", ""},
		{"console.log", ""},
		{"process.env.X", ""},
		{"GitHub", ""},
		{"APIs", ""},
		{"Mozilla/5.0", ""},
		{"actions/checkout@v4", ""},
		{"CLAUDE.md/AGENTS.md", ""},
		{"d.ts", ""},
		{".d.ts", ""},
		{".go", ""},
		{"make", ""},
		{"make <target>", ""},
		{"make TARGET", ""},
		{"make sure", ""},
		{"npm install x", ""},
		{"yarn add x", ""},
		{"git checkout a/b.go", ""},
		{`\d+\.\w`, ""},
		{"a[i]", ""},
		{"x => x.y", ""},
		{"localhost:8080", ""},
		{"127.0.0.1/x.go", ""},
		{"a.b", ""},
		{"npm run", ""},
		{"<!-- x -->", ""},
		{"node_modules/x/y.js", ""},
		{"YYYY-MM-DD.md", ""},
		{"file.ext", ""},
		{"", ""},
		{"new Foo()", ""},
		{"if (x)", ""},
		{"__init__", ""},
		{"sudo apt install x/y.go", ""},
		{"src//x.go", ""},
		{"a/../b.go", ""},
	} {
		t.Run(c.span, func(t *testing.T) {
			doc := read(t, "a.md", "Look at `"+c.span+"`.\n")
			var got []string
			for _, m := range doc.Mentions {
				kind := string(m.Kind)
				if m.Glob {
					kind = "glob"
				}
				s := kind + " " + m.Name
				if m.Dir {
					s += "/"
				}
				if m.Tool != "" {
					s += " by " + m.Tool
				}
				if m.In != "" {
					s += " in " + m.In
				}
				got = append(got, s)
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, "; "), c.want)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	doc := read(t, "docs/a.md", strings.Join([]string{
		"[a](b.md) ![i](img/x.png \"title\") [c](<my dir/c d.md>) [d](e%20f.md#x) [up](../README.md?raw=1)",
		"[u](https://x.y/z) [m](mailto:a@b.c) [h](#here) <https://a.b/c.md> [s](/docs/x) [dir](sub/)",
		"[par](a_(b).md) [esc](a\\_b.md) [`Foo.bar`](https://x.y) [`b.md`](b.md) [`Pipe.read`](b.md)",
		"[`Far.away`][far] [`Near.by`][near] [`Far.too`] ![](x.svg)",
		"[issues](../../issues) [ph](path/to/x.md) [ph]({{ url }})",
		"",
		"[far]: https://x.y/z",
		"[near]: ./near.md 'Title'",
		"[`Far.too`]: http://x.y",
		"[^1]: A note on `src/note.go`.",
		"",
		`<img src="pic/a.png" width=3> <a href='b/c.md'>x</a>`,
		"",
		"<div>",
		`<img alt="x" src="pic/b.png"/> src/no.go`,
		"</div>",
	}, "\n"))
	same(t, formatMentions(doc.Mentions), []string{
		"1 path link b.md",
		"1 path link img/x.png",
		"1 path link my dir/c d.md",
		"1 anchor link x in e f.md nowhere",
		"1 path link e f.md nowhere",
		"1 path link ../README.md",
		"2 anchor link here nowhere",
		"2 path link /docs/x",
		"2 path link sub dir",
		"3 path link a_(b).md",
		"3 path link a_b.md nowhere",
		"3 path link b.md",
		"3 symbol code Pipe.read",
		"3 path link b.md",
		"4 symbol code Near.by",
		"4 path link x.svg",
		"8 path link near.md",
		"10 path code src/note.go",
		"12 path link pic/a.png",
		"12 path link b/c.md",
		"15 path link pic/b.png",
	})
}

func TestBlocks(t *testing.T) {
	doc := read(t, "README.md", strings.Join([]string{
		"```sh",
		"git clone https://x.y/z && cd z",
		"make build test   # make nothing",
		"cd sub",
		"npm run dev > out/log.txt",
		"./scripts/go.sh --flag src/in.txt | tee x/y.txt",
		"cat > made/new.go <<'EOF'",
		"cat inside/doc.go",
		"EOF",
		"python tools/gen.py \\",
		"  config/a.yaml",
		"curl -o x/y.go https://a.b",
		"echo src/a.go",
		"mkdir -p new/dir",
		"```",
		"",
		"```console",
		"$ make check",
		"make: nothing to do for src/x.go",
		"$ (cd web && npm start)",
		"$ cat docs/a.md",
		"```",
		"",
		"```go",
		"import \"src/a.go\" // make test",
		"```",
		"",
		"    make indented",
		"    anything with src/x.go",
		"",
		"- item",
		"",
		"  ```bash",
		"  make listed",
		"  ```",
		"> ```",
		"> make quoted",
		"> ```",
	}, "\n"))
	same(t, formatMentions(doc.Mentions), []string{
		"3 command block build by make",
		"3 command block test by make",
		"5 command block dev by npm in sub",
		"6 path block scripts/go.sh in sub",
		"6 option block flag",
		"6 path block src/in.txt in sub",
		"10 path block tools/gen.py in sub",
		"11 path block config/a.yaml in sub",
		"18 command block check by make",
		"20 command block start by npm in web",
		"21 path block docs/a.md",
		"25 path block src/a.go", // in any language
		"28 command block indented by make",
		"34 command block listed by make",
		"37 command block quoted by make",
	})
}

func TestDrawings(t *testing.T) {
	doc := read(t, "README.md", strings.Join([]string{
		"```",
		"ken/",
		"├── cmd/",
		"│   └── ken/        # the program",
		"│       └── main.go",
		"├── internal",
		"│   ├── a.go, b.go",
		"│   ├── <name>/",
		"│   │   └── inner.go",
		"│   ├── ...",
		"│   └── old.go      ← removed",
		"└── go.mod",
		"```",
		"",
		"```text",
		"src/",
		"  app/          the app",
		"    main.ts",
		"  lib.ts        # x",
		"```",
		"",
		"```",
		".",
		"|-- a.txt",
		"`-- b",
		"    `-- c.txt",
		"```",
		"",
		"```",
		"┌──────┐",
		"│ a.go │",
		"└──────┘",
		"```",
	}, "\r\n"))
	same(t, formatMentions(doc.Mentions), []string{
		"2 path drawing ken dir",
		"3 path drawing cmd in ken dir",
		"4 path drawing cmd/ken in ken dir nowhere",
		"5 path drawing cmd/ken/main.go in ken nowhere",
		"6 path drawing internal in ken dir",
		"7 path drawing internal/a.go in ken nowhere",
		"7 path drawing internal/b.go in ken nowhere",
		"11 path drawing internal/old.go in ken hedged nowhere",
		"12 path drawing go.mod in ken",
		"16 path drawing src dir",
		"17 path drawing src/app dir nowhere",
		"18 path drawing src/app/main.ts nowhere",
		"19 path drawing src/lib.ts nowhere",
		"24 path drawing a.txt",
		"25 path drawing b dir",
		"26 path drawing b/c.txt nowhere",
	})
}

func TestRunningText(t *testing.T) {
	doc := read(t, "CLAUDE.md", strings.Join([]string{
		"\uFEFF---", "code: src/front.go", "---",
		"See src/main.go, (docs/a.md) and **lib/x.rs**. Not and/or, x/y, https://a.b/c.go or www.a.b/c.go.",
		"请看src/中.go和 src/cn.go。另见`pkg/名.go`、`pkg/x.go`。",
		"انظر `src/ar.go`، ثم src/ar2.go.",
		"@docs/rules.md and @README.md, not @alice, @scope/pkg, me@x.md or `@docs/no.md`.",
		"<!-- src/hidden.go `src/hidden2.go` -->",
		"Unclosed `` src/open.go and \\`src/escaped.go\\`.",
	}, "\n"))
	same(t, formatMentions(doc.Mentions), []string{
		"4 path word src/main.go",
		"4 path word docs/a.md",
		"4 path word lib/x.rs",
		"5 path word src/cn.go",
		"5 path code pkg/名.go",
		"5 path code pkg/x.go",
		"6 path code src/ar.go",
		"6 path word src/ar2.go",
		"7 path import docs/rules.md",
		"7 path import README.md",
		"9 path word src/open.go",
	})
	if doc := read(t, "docs/page.md", "@docs/rules.md"); len(doc.Mentions) > 0 {
		t.Errorf("an import outside of an agent's document: %v", formatMentions(doc.Mentions))
	}
}

func TestHedges(t *testing.T) {
	doc := read(t, "a.md", strings.Join([]string{
		"We removed `a1.go`. Now there is `a2.go`, e.g. nothing. `a3.go` is here.",
		"Use `b1.go` instead of it; `b2.go` stays. The wasp and colder `b3.go`.",
		"",
		"| `c1.go` | was here |",
		"|---|---|",
		"| `c2.go` | is here |",
		"",
		"These are deprecated:",
		"",
		"- `d1.go`",
		"- `d2.go`",
		"",
		"And `d3.go`.",
		"",
		"- For example:",
		"  - `e1.go`",
		"- `e2.go`",
		"",
		"The code `removed_x` and `e3.go`.",
		"",
		"## Migration",
		"`f1.go`",
		"### Sub",
		"`f2.go`",
		"## Layout of `f3.go`",
		"`f4.go` 已删除。`f5.go`",
		"",
		"There is no `g1.go` there. There is `g2.go`. Add files named `g3.go`.",
		"## Plan: a new crate",
		"`h1.go`",
		"## The plan of a query",
		"`h2.go`",
		"## Implementation plan",
		"`h3.go`",
	}, "\n"))
	got := make(map[string]bool)
	for _, m := range doc.Mentions {
		got[m.Name] = m.Hedged
	}
	for name, want := range map[string]bool{
		"a1.go": true, "a2.go": true, "a3.go": false, "b1.go": true, "b2.go": false, "b3.go": false, "c1.go": true, "c2.go": false,
		"d1.go": true, "d2.go": true, "d3.go": false, "e1.go": true, "e2.go": false, "e3.go": false,
		"f1.go": true, "f2.go": true, "f3.go": false, "f4.go": true, "f5.go": false, "g1.go": true, "g2.go": false, "g3.go": true,
		"h1.go": true, "h2.go": false, "h3.go": true,
	} {
		if is, ok := got[name]; !ok || is != want {
			t.Errorf("%s: hedged %v (found %v), want %v", name, is, ok, want)
		}
	}
}

func TestAcks(t *testing.T) {
	doc := read(t, "a.md", strings.Join([]string{
		"<!-- ken:ok src/a.go comes with the build -->",
		"`src/a.go` and `src/b.go`, again src/a.go.",
		"",
		"<!-- ken:ok -->",
		"`src/c.go`",
		"`src/d.go`",
		"",
		"`src/e.go`",
		"",
		"<!-- ken:ok -- a plan -->",
		"",
		"- `src/f.go`",
		"- `src/g.go`",
		"",
		"`src/h.go` <!-- ken:ok -->",
		"`src/i.go`",
		"",
		"<!-- ken:off theirs -->",
		"`src/j.go`",
		"",
		"    make k",
		"",
		"<!-- ken:on -->",
		"`src/l.go` <!-- ken:ok `make it all` --> `src/m.go` `make it all`",
		"",
		"`<!-- ken:off -->` `src/n.go`",
	}, "\n"))
	var acked []string
	for _, m := range doc.Mentions {
		if m.Acked {
			acked = append(acked, m.Name)
		}
	}
	if got, want := strings.Join(acked, " "), "src/a.go src/a.go src/c.go src/d.go src/f.go src/g.go src/h.go src/i.go src/j.go k"; got != want {
		t.Errorf("acknowledged\n got %s\nwant %s", got, want)
	}
}

func TestOtherFormats(t *testing.T) {
	same(t, formatMentions(read(t, "a.mdx", "import x from 'src/a.js'\n\n{/* ken:ok -- x */}\n`src/a.ts`\n\n`src/b.ts` {/* ken:ok */}\n\n`src/c.ts` {/* `src/d.ts` */}").Mentions), []string{
		"4 path code src/a.ts acked", "6 path code src/b.ts acked", "8 path code src/c.ts",
	})
	same(t, formatMentions(read(t, "README.rst", "Read ``src/a.py`` and :class:`~flask.Flask`.\n\n    src/code.py ``src/b.py``\n\nsrc/c.py").Mentions), []string{
		"1 path code src/a.py", "1 symbol code flask.Flask", "3 path word src/code.py", "3 path code src/b.py", "5 path word src/c.py",
	})
	same(t, formatMentions(read(t, "docs/a.rst", strings.Join([]string{
		"Removed things", "==============", "``src/a.py``", "",
		"Layout", "------", "Run it::", "", "    make deploy", "    cat src/b.py", "",
		".. image:: img/c.png", "   :alt: no/d.png is no file", "",
		".. code-block:: python", "", "    open('src/e.py')", "",
		".. note::", "", "    Read ``src/f.py``.",
	}, "\n")).Mentions), []string{
		"3 path code src/a.py hedged",
		"9 command block deploy by make hedged", "10 path block src/b.py hedged",
		"12 path link img/c.png hedged", "13 path word no/d.png hedged",
		"17 path block src/e.py hedged", "21 path code src/f.py hedged",
	})
	same(t, formatMentions(read(t, ".cursorrules", "- Use `src/a.ts`\n").Mentions), []string{"1 path code src/a.ts"})
}

// The bytes of prose and the bytes of code.
func TestStructure(t *testing.T) {
	doc := read(t, "a.md", strings.Join([]string{
		"- a", "", "      make code", "", "  `in_item`", "", "1. x", "   ```", "   make fenced", "   ```", "> quote", "lazy `lazy_one`",
		"", "Setext `set_ext`", "===", "    not code `cont_inued`", "", "\tmake tabbed", "", "~~~", "``` `no_t`", "~~~", "``a`b_c``", "* * *", "`af_ter`",
		"<pre>", "`pre_formatted`", "", "`still_pre`", "</pre>", "`be_yond`",
	}, "\n"))
	same(t, formatMentions(doc.Mentions), []string{
		"3 command block code by make",
		"5 symbol code in_item",
		"9 command block fenced by make",
		"12 symbol code lazy_one",
		"14 symbol code set_ext",
		"18 command block tabbed by make",
		"25 symbol code af_ter",
		"31 symbol code be_yond",
	})
}

func TestRefused(t *testing.T) {
	if _, err := Read("a.md", make([]byte, MaxBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := Read("a.md", []byte("a\x00b")); !errors.Is(err, ErrNotText) {
		t.Errorf("not text: %v", err)
	}
}

// Crafted documents are read, or rejected as too complex. None takes longer than its size allows: if the test
// hangs, it has found one.
func TestBombs(t *testing.T) {
	r := strings.Repeat
	rising := func(unit string) func(int) string {
		return func(n int) string {
			var b strings.Builder
			for i := 1; b.Len() < n; i++ {
				b.WriteString(r(unit, i) + " - a\n")
			}
			return b.String()
		}
	}
	of := func(unit string) func(int) string { return func(n int) string { return r(unit, n/len(unit)+1) } }
	bombs := map[string]func(int) string{
		"ticks": rising("`"), "deep list": rising("  "), "deep quote": rising(">"), "nested": func(n int) string { return r("[", n/2) + "a" + r("](b)", n/8) },
	}
	for _, unit := range []string{
		">", "> ", "- ", "1. ", "* ", "[", "]", "![", "[a](", "[a](<b", "[a](b \"", "[`a_b`](", "[`a_b`](http://x)", "[`a_b`][", "(", "`", "``` ", "`a_b` ", "```\n",
		"<", "<!--", "<a b=\"", "<a b=", "<![CDATA[", "<?", "<div>\n", "<pre>\n", "*a **b ", "\\", "a\n", "a/b.go ", "[a]: b.md\n", "[a]:\n", "| `a_b` |\n", "# a\n",
		"a\n=\n", "- a\n", "  - `a_b`:\n", "@a.md ", "├── a\n", "│   ", "```sh\n(", "```sh\nmake a\n", "```sh\n$(\n", "    make a\n", "\t", " ", "\xff", "。", "a. ", "a: ", "a/",
		"<!-- ken:ok -->\n", "<!-- ken:off -->\n<!-- ken:on -->\n", "<!-- ken:ok a/b.go -->\n`a/b.go`\n", "\r", "\r\n", "'", "<<A ", "a.go/", "::", "{a,", "(*",
	} {
		bombs[unit] = of(unit)
	}
	for name, bomb := range bombs {
		for _, doc := range []struct{ path, text string }{
			{"CLAUDE.md", "x " + bomb(100_000)},
			{"CLAUDE.md", bomb(100_000)},
			{"CLAUDE.md", "```sh\n" + bomb(20_000)},
			{"CLAUDE.md", "```\n" + bomb(20_000)},
			{"a.rst", bomb(20_000)},
		} {
			if _, err := Read(repo.Path(doc.path), []byte(doc.text)); err != nil && !errors.Is(err, markup.ErrTooComplex) {
				t.Errorf("%q in %s: %v, want it read or refused as too complex", name, doc.path, err)
			}
		}
	}
}

func TestTooComplex(t *testing.T) {
	for name, text := range map[string]string{
		"quotes": strings.Repeat("> ", 200) + "a", "numbers": strings.Repeat("1. ", 200), "marks": strings.Repeat(">", 200),
		"brackets": strings.Repeat("[a](", 10_000), "footnotes": strings.Repeat("[^a]\n", 20_000),
	} {
		if _, err := Read("a.md", []byte(text)); !errors.Is(err, markup.ErrTooComplex) {
			t.Errorf("Read of many %s returned the error %v; want %v", name, err, markup.ErrTooComplex)
		}
	}
	for name, text := range map[string]string{
		"a rule": strings.Repeat("- ", 200), "a border": "+" + strings.Repeat("-", 200) + "+", "a long line": strings.Repeat("a ", 100_000), "a table of links": strings.Repeat("| [a](b.md) |\n", 20_000),
	} {
		if _, err := Read("a.md", []byte(text)); err != nil {
			t.Errorf("%s: %v, want it read", name, err)
		}
	}
}

// A document reads the same each time, and the positions are right.
func FuzzRead(f *testing.F) {
	paths := []repo.Path{"CLAUDE.md", "a.md", "a.mdx", "a.rst"}
	f.Add(byte(0), "# A `b_c`\r\n\r\n- [x](y/z.md#q) `make a`\r\n  ```sh\r\n  $ cd a && make b \\\r\n  c\r\n  ```\r\n@docs/a.md src/a.go\r\n")
	f.Add(byte(1), "```\na/\n├── b.go, c.go\n│   └── d/ # old\n```\n<!-- ken:ok -->\n| `a_b` | [`c.d`][e] |\n\n[e]: <f g.md> 'h'\n<img src=\"a.png\">\n")
	f.Add(byte(3), "``a/b.py`` :class:`~a.B`\n\n_x_ `_a.b_`")
	f.Add(byte(2), "---\ncode: x\n---\n> 1. > a `(*T).M` \t`src\\a\\b.cs`\n\t\tmake x\n<!-- ken:off --><!-- ken:on --> \xff\xfe。`文.md`")
	f.Add(byte(1), "`.#` `#.` `::` `.::.`")
	f.Fuzz(func(t *testing.T, which byte, content string) {
		path := paths[which%4]
		doc, err := Read(path, []byte(content))
		if err != nil {
			return
		}
		check(t, content, doc)
		again, err := Read(path, []byte(content))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(doc) {
			t.Errorf("read twice: %v\n%v\n%v", err, doc, again)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := []byte(strings.Repeat("## A heading\n\nSome words on `internal/git/open.go` and [a link](docs/a.md), with `Type.Method` and more of them\nover two lines, and src/main.go.\n\n- an item\n- another `make test`\n\n```sh\nmake build # this\n```\n\n", 50))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read("a.md", text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRoles(t *testing.T) {
	for path, want := range map[repo.Path]Role{
		"CLAUDE.md": Agent, "sub/AGENTS.md": Agent, ".cursorrules": Agent, ".cursor/rules/a.mdc": Agent, ".claude/commands/x.md": Agent,
		".github/copilot-instructions.md": Agent, ".github/instructions/a.instructions.md": Agent, "skills/x/SKILL.md": Agent,
		"README": Guide, "README.md": Guide, "readme.rst": Guide, "README.txt": Guide, "CONTRIBUTING": Guide, "docs/architecture.md": Guide,
		"docs/adr/0001-x.md": Decision, "docs/a.md": Page, "docs/a.mdx": Page, "docs/a.rst": Page, "docs/ref/models.txt": Page, "pkg/doc/a.txt": Page, "notes/a.txt": "", "docs/requirements.txt": "",
		"docs/dev-requirements.txt": "", "docs/spelling_wordlist.txt": "", "docs/CMakeLists.txt": "", "docs/guide.org": "", ".spec/x/spec.md": Page, ".github/PULL.md": Page,
		"main.go": "", "requirements.txt": "", "a.json": "", "LICENSE": "", "": "",
	} {
		if got := RoleOf(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	for path, want := range map[repo.Path]bool{
		"CHANGELOG.md": true, "docs/HISTORY.md": true, "NEWS.md": true, "docs/release-notes/1.md": true, "docs/migration-guide.md": true,
		"UPGRADING.md": true, "docs/archive/a.md": true, "x/testdata/README.md": true, "node_modules/a/README.md": true, "vendor/a/README.md": true,
		"third_party/README.md": true, "README.md": false, "docs/releasing.md": false, "CLAUDE.md": false, "docs/newsroom.md": false, "docs/old/a.md": true, "RELEASING.md": false, "docs/release.md": false,
		"docs/making-changes.md": false, "docs/release-notes-2.md": true, "CHANGES.rst": true,
		"script/benchmarks/post.md": true, "benchmarks/README.md": false, "docs/benchmarks.md": false, "docs/issues/a.md": true,
		".claude/skills/issues/SKILL.md": false, "docs/plans/a.md": true, ".claude/commands/make-plan.md": false, "docs/plan.md": false,
		"docs/review-findings.md": true, "docs/build-phases.md": true, "docs/report.md": false, "docs/2026-01-02-call.md": true, "docs/notes_20260102.md": true,
		"docs/release-notes-4-1/README.md": true, "api_versioned_docs/a.md": true, "docs/version-6.1/a.md": true, "docs/v2/a.md": true, "docs/v1.x/a.md": true, "docs/v8/engine/a.md": true, "docs/verbs/a.md": false, "docs/version-control/a.md": false,
		"CONTRIBUTING.old.md": true, "docs/0.32-relnotes/index.md": true, "docs/holding.md": false,
		"docs/rfc-2026.md": false, "docs/port-80801234.md": false,
		"history.md": true, "docs/formats/archive.md": false, "docs/history.md": false, "docs/news.md": false, "docs/git-history.md": false,
		"docs/NEWS-2.md": true, "docs/deprecation.txt": true, "docs/changes.md": false, "docs/history/a.md": true, "pkg/a/HISTORY": true,
	} {
		if got := IsHistorical(path); got != want {
			t.Errorf("%q: IsHistorical %v, want %v", path, got, want)
		}
	}
}

func TestChangelog(t *testing.T) {
	const log = "# History\n\n## 1.1.0\n\n- `a.go`\n\n## [v1.0.0] - 2020\n"
	for _, tt := range []struct {
		path repo.Path
		text string
		want bool
	}{
		{"docs/history.md", log, true},
		{"docs/release-history.md", log, true},
		{"docs/archive.md", "# Archive\n\n## 1. What it is\n\nA line.\n", false},
		{"docs/formats.md", log, false},
		{"docs/news.rst", "News\n====\n\n1.1\n---\n\n* a\n\n1.0\n---\n", true},
		{"docs/news.rst", "News\n====\n\n1.1\n\n* 1 a\n* 2 b\n", false},
		{"docs/news.md", "2 lines\n3 lines\n", false},
	} {
		if got := IsChangelog(tt.path, []byte(tt.text)); got != tt.want {
			t.Errorf("IsChangelog(%q) = %t; want %t", tt.path, got, tt.want)
		}
	}
}

// A block of code has the names that it imports or uses, and the lines where it does. What it declares is the reader's.
func TestBlocksOfCode(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"python", "from shop.api import Client as C\nx = C()\nx.fetch_all()\n", "Client in shop.api 1, fetch_all in shop.api 3"},
		{"py", "class Client: pass\nClient()\n", ""},
		{"ts", "import { createThing } from '@x/core'\nconst t = createThing(); t.runIt()", "createThing in @x/core 1, runIt in @x/core 2"},
		{"go", "srv := api.New(cfg)\nsrv.ServeForever()\n", "ServeForever 2"},
		{"golang", "func Own() { useIt() }\n", "useIt 1"},
		{"rust", "let t = old_name(x);\nold_name(y);\n", "old_name 1, old_name 2"},
		{"python", "def broken(:\n  use_it( (", ""},
		{"cobol", "CALL SOMETHING_ELSE.", ""},
		{"", "use_it(x)", ""},
		{"py", "import databases\nx = databases.DatabaseURL(y)\n", "DatabaseURL in databases 2"},
	} {
		var got []string
		for _, m := range read(t, "README.md", "```"+c.language+"\n"+c.code+"\n```\n").Mentions {
			if m.Kind != Symbol || !m.Casual {
				t.Errorf("%s: %+v", c.language, m)
			}
			text := m.Name
			if m.In != "" {
				text += " in " + m.In
			}
			got = append(got, fmt.Sprintf("%s %d", text, m.Line-1))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s %q: %q, want %q", c.language, c.code, text, c.want)
		}
	}
}
