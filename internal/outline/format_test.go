package outline_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A parseFunc returns a text that is equal for sources with equal syntax trees, and false for
// a source that does not parse.
type parseFunc func(t *testing.T, src []byte) (tree string, ok bool)

// A change with the grade format does not change the syntax tree. The test changes white space, line ends
// and comments, and compares the trees of the language's own parser.
func TestFormatKeepsTheTree(t *testing.T) {
	for _, c := range []struct {
		path     repo.Path
		sample   string
		parse    func(t *testing.T) parseFunc
		comments []string
		short    int // changes tried with -short
		full     int
		formats  int // minimum of format grades in a hundred changes
	}{
		{"a.go", "testdata/format.go.txt", goParser, []string{"// c\n", "/* c */", "/* c\n*/"}, 2000, 6000, 10},
		{"a.py", "testdata/format.py", pythonParser, []string{"# c\n", " # c\n"}, 1000, 5000, 10},
		{"a.js", "testdata/format.js", scriptParser, []string{"// c\n", "/* c */", "/* c\n*/", "<!-- c\n", "\n--> c\n"}, 1000, 5000, 10},
		{"a.sh", "testdata/format.sh", shellParser, []string{"# c\n", " # c\n"}, 1000, 6000, 10},
	} {
		t.Run(string(c.path), func(t *testing.T) {
			src, err := os.ReadFile(c.sample)
			if err != nil {
				t.Fatal(err)
			}
			parse := c.parse(t)
			want, ok := parse(t, src)
			if !ok {
				t.Fatalf("%s does not parse: it is no basis for this test", c.sample)
			}
			before, err := outline.Parse(c.path, src)
			if err != nil || before.Partial != "" {
				t.Fatalf("the outline of %s should be whole: %v %+v", c.sample, err, before)
			}
			tries := c.full
			if testing.Short() {
				tries = c.short
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			formats := 0
			for range tries {
				changed, what := changeSpacing(rnd, src, c.comments)
				if bytes.Equal(changed, src) {
					continue
				}
				after, err := outline.Parse(c.path, changed)
				if err != nil || outline.Grade(before, after) != fresh.GradeFormat {
					continue
				}
				formats++
				if got, ok := parse(t, changed); !ok {
					t.Errorf("%s is graded format, but the result does not parse", what)
				} else if got != want {
					t.Errorf("%s is graded format, but changes the tree%s", what, firstDifference(want, got))
				}
			}
			if formats*100 < tries*c.formats {
				t.Errorf("%d of %d changes are graded format, want %d%% at least: the test would show nothing", formats, tries, c.formats)
			}
			t.Logf("%d of %d changes are graded format", formats, tries)
		})
	}
}

// changeSpacing inserts, removes or replaces white space or a comment at a random position. It also returns
// a description of the change.
func changeSpacing(rnd *rand.Rand, src []byte, comments []string) (out []byte, what string) {
	texts := append([]string{" ", "  ", "\t", "\n", "\n\n", " \n", "\n  ", "\\\n", "\n", " ", "\n\n"}, comments...)
	text := texts[rnd.IntN(len(texts))]
	at := rnd.IntN(len(src))
	end := at
	switch rnd.IntN(4) {
	case 0: // insert it anywhere
	case 1: // insert it at the end of a line
		at += max(0, bytes.IndexByte(src[at:], '\n'))
		if rnd.IntN(2) == 0 {
			at++
		}
		end = at
	case 2: // replace white space with it
		at, end = nextSpace(src, at)
	case 3: // remove white space
		at, end = nextSpace(src, at)
		at += rnd.IntN(max(1, end-at))
		text = ""
	}
	out = bytes.Join([][]byte{src[:at], []byte(text), src[end:]}, nil)
	line := bytes.Count(src[:at], []byte("\n")) + 1
	return out, fmt.Sprintf("line %d: %q for %q in %q", line, text, src[at:end], src[max(0, at-20):min(len(src), end+20)])
}

// nextSpace returns the next run of white space.
func nextSpace(src []byte, from int) (start, end int) {
	start = from
	for start < len(src) && !strings.ContainsRune(" \t\n", rune(src[start])) {
		start++
	}
	end = start
	for end < len(src) && strings.ContainsRune(" \t\n", rune(src[end])) {
		end++
	}
	return start, end
}

// firstDifference shows where two trees begin to differ.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	show := func(s string) string { return s[min(len(s), max(0, i-30)):min(len(s), i+60)] }
	return fmt.Sprintf(":\nwas %q\nis  %q", show(a), show(b))
}

// goParser uses go/parser.
func goParser(*testing.T) parseFunc {
	return func(_ *testing.T, src []byte) (string, bool) {
		tree, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
		if err != nil {
			return "", false
		}
		var out strings.Builder
		err = ast.Fprint(&out, nil, tree, func(_ string, v reflect.Value) bool { return v.Type() != reflect.TypeFor[token.Pos]() })
		return out.String(), err == nil
	}
}

// pythonParser uses Python's ast module.
func pythonParser(t *testing.T) parseFunc {
	t.Helper()
	return askProcess(t, "python3", "-c", `
import ast, json, sys
for line in sys.stdin:
    try:
        answer = ast.dump(ast.parse(json.loads(line)))
    except (SyntaxError, ValueError):
        answer = None
    print(json.dumps(answer), flush=True)
`)
}

// scriptParser uses acorn, which parses a source as a script and as a module. acorn comes from the Debian
// package node-acorn, which node does not find by default.
func scriptParser(t *testing.T) parseFunc {
	t.Helper()
	return askProcess(t, "node", "-e", `
module.paths.push("/usr/share/nodejs")
const acorn = require("acorn")
const tree = (source, sourceType) => {
  try {
    return acorn.parse(source, {ecmaVersion: "latest", sourceType, allowHashBang: true})
  } catch {
    return null
  }
}
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const source = JSON.parse(line)
  const trees = [tree(source, "script"), tree(source, "module")]
  const text = JSON.stringify(trees, (key, value) => key === "start" || key === "end" ? undefined : typeof value === "bigint" ? String(value) : value)
  console.log(JSON.stringify(trees[0] || trees[1] ? text : null))
})
`)
}

// askProcess starts a program that answers each line with one: a source as JSON, and its tree
// or null.
func askProcess(t *testing.T, name string, args ...string) parseFunc {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s is needed for this test: install it with: make setup (%v)", name, err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	answers := bufio.NewReader(out)
	return func(t *testing.T, src []byte) (string, bool) {
		t.Helper()
		question, err := json.Marshal(string(src))
		if err == nil {
			_, err = in.Write(append(question, '\n'))
		}
		var line []byte
		if err == nil {
			line, err = answers.ReadBytes('\n')
		}
		if err != nil {
			in.Close()
			_ = cmd.Wait()
			t.Fatalf("%s ended: install its dependencies with: make setup (%v)\n%s", name, err, stderr.String())
		}
		var tree *string
		if err := json.Unmarshal(line, &tree); err != nil {
			t.Fatalf("%s answered %q: %v", name, line, err)
		}
		if tree == nil {
			return "", false
		}
		return *tree, true
	}
}

// shellParser uses bash to print a script in normalized form, without running it. The script becomes the
// body of a function, because bash prints empty lines between functions.
func shellParser(t *testing.T) parseFunc {
	t.Helper()
	seen := make(map[string]string)
	return func(t *testing.T, src []byte) (string, bool) {
		t.Helper()
		if tree, ok := seen[string(src)]; ok {
			return tree, tree != ""
		}
		cmd := exec.CommandContext(t.Context(), "bash", "--pretty-print", "-O", "extglob", "/dev/stdin")
		cmd.Stdin = strings.NewReader("script() {\n" + string(src) + "\n}\n")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState == nil {
			t.Fatalf("bash is needed for this test: %v", err)
		}
		if err != nil || strings.Contains(stderr.String(), "syntax error") || strings.Contains(stderr.String(), "warning") {
			out = nil
		}
		seen[string(src)] = string(out)
		return string(out), len(out) > 0
	}
}
