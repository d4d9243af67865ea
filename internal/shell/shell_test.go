package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/shell"
)

// show prints commands: words in brackets, ! for a command that is not plain, subshells in parentheses.
func show(list []shell.Command) string {
	var out []string
	for _, c := range list {
		if c.Subshell != nil {
			out = append(out, "("+show(c.Subshell)+")")
			continue
		}
		text := ""
		for _, w := range c.Words {
			text += "[" + w.Value + "]"
		}
		if !c.Plain {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"words":             {"go test ./...", "[go][test][./...]"},
		"two lines":         {"cd web\nnpm test\n", "[cd][web] [npm][test]"},
		"operators":         {"a && b || c; d", "[a] [b] [c] [d]"},
		"a pipe":            {"cat a.txt | wc -l", "[cat][a.txt]! [wc][-l]!"},
		"in the background": {"serve & test", "[serve]! [test]"},
		"quotes":            {`echo 'a b' "c d" e\ f`, "[echo][a b][c d][e f]"},
		"an expansion":      {`go test -o $OUT "$(pwd)/x"`, `[go][test][-o][$OUT][$(pwd)/x]!`},
		"an assignment":     {"CI=1 make test", "[CI=1][make][test]"},
		"a quoted value":    {`A="b c" B= make`, "[A=b c][B=][make]"},
		"a list":            {`d=(e f); make`, "[d=(e f)]! [make]"},
		"output":            {"make docs > out.txt 2>&1", "[make][docs]!"},
		"input":             {"mysql < dump.sql", "[mysql][dump.sql]!"},
		"a here document":   {"cat > a <<EOF\nnot a command\nEOF\nmake", "[cat]! [make]"},
		"a comment":         {"make # builds it", "[make]"},
		"a long line":       {"go test \\\n  ./a \\\n  ./b", "[go][test][./a][./b]"},
		"a long DOS line":   {"go test \\\r\n  ./a\r\nmake\r\n", "[go][test][./a] [make]"},
		"a subshell":        {"(cd web && npm test); make", "([cd][web] [npm][test]) [make]"},
		"an if":             {"if test -f x; then make a; else make b; fi", "[test][-f][x] [make][a] [make][b]"},
		"a loop":            {"for d in a b; do make -C $d; done", "[make][-C][$d]!"},
		"a function":        {"build() { make all; }", "[make][all]"},
		"a placeholder":     {"git clone <url> && cd <dir>", "[git][clone][<url>]! [cd][<dir>]!"},
		"a CI expression":   {"go test -run ${{ matrix.test }} ./...", "[go][test][-run][${{ matrix.test }}][./...]!"},
		"prose between":     {"make\nDon't do that.\nmake test", "[make] [make][test]"},
		"nothing":           {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := show(shell.Read(c.text)); got != c.want {
				t.Errorf("Read(%q) returned %s, want %s", c.text, got, c.want)
			}
		})
	}
}

// The place of a word is that of its value, also if another line cannot be parsed.
func TestReadPlaces(t *testing.T) {
	text := "it's\ncat 'a b' ./c.go \"d\"\n"
	var places []string
	for _, c := range shell.Read(text) {
		for _, w := range c.Words {
			places = append(places, fmt.Sprintf("%s=%s", w.Value, text[w.Start:w.End]))
		}
	}
	if got, want := strings.Join(places, " "), "cat=cat a b=a b ./c.go=./c.go d=d"; got != want {
		t.Errorf("the places are %s, want %s", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"a 'b' | c > d", "cat <<A\nb\nA", "${{ x }} <y> $(z", "if (a; then\n\\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var check func(list []shell.Command)
		check = func(list []shell.Command) {
			for _, c := range list {
				check(c.Subshell)
				for _, w := range c.Words {
					if w.Start < 0 || w.End < w.Start || w.End > len(text) {
						t.Errorf("Read(%q) places %q at %d-%d", text, w.Value, w.Start, w.End)
					}
				}
			}
		}
		check(shell.Read(text))
	})
}

// Crafted text is read in bounded time and memory: without a limit, the parser overflows the stack of these.
func TestReadNested(t *testing.T) {
	for _, open := range []string{"(", "$(", "((", "{ ", "${a:-", `"$(`, "`", "a[", "if ", "a |"} {
		list := shell.Read(strings.Repeat(open, 1<<20/len(open)) + "\nmake test\n")
		if got := show(list); !strings.HasSuffix(got, "[make][test]") {
			t.Errorf("after many %q, Read returned %.100s; want make test as the last command", open, got)
		}
	}
}
