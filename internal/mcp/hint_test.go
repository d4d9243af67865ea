package mcp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ken/internal/fault"
)

// forAgents replaces commands by tool calls.
func TestForAgents(t *testing.T) {
	odd := "it's a dir"
	for said, want := range map[string]string{
		"run ken inside a repository, or: ken -C DIR …":         `give root, a directory in a git work tree: {"root": "/path/to/worktree"}`,
		"name its directory: ken -C " + fault.Quote(odd) + " …": `name its directory: {"root": "it's a dir"}`,
		"see its versions with: ken spec history a/b":           `see its versions with: spec {"id": "a/b", "history": true}`,
		"ken state update phase=implement":                      `{"action": "update", "set": {"phase": "implement"}}`,
		"see what there is with: ken state get":                 `see what there is with: {"action": "get"}`,
		"record one with: ken summary set 'a b' -m TEXT":        `record one with: file_registry_update_summaries {"updates": [{"path": "a b", "summary": "TEXT"}]}`,
		"ken state get phase":                                   `{"action": "get", "key": "phase"}`,
		"correct the content, or write it anyway with --force":  `correct the content, or write it anyway with "force": true`,
		"add a work tree and run ken there: git x (about commits, these do: ken brief --at HEAD, ken review A..B)": "add a work tree and give it as root: git x",
		"see it with: ken brief 'a b'": `see it with: brief {"paths": ["a b"]}`,
		"look for it: ken find lexer":  `look for it: find {"query": "lexer"}`,
		"then run: ken summary close":  `then run: file_registry_update_summaries`,
		"to use it: ken share status":  "to use it: ken share status (run ken commands in a shell)",
		"see it: ken summary diff a":   "see it: ken summary diff a (run ken commands in a shell)",
		"ken keeps it":                 "ken keeps it",
		"":                             "",
	} {
		if got := forAgents(said); got != want {
			t.Errorf("forAgents(%q) is\n%q, want\n%q", said, got, want)
		}
	}
}

// No hint in the packages behind the tools names a command that a tool replaces. A new
// hint with such a command needs a phrase.
func TestEveryHintNamesTools(t *testing.T) {
	done := regexp.MustCompile(`\bken (-C|… --dir|state (--dir|get|update|put|check)|survey (next|submit|show)|spec (ls|show|history|ack|owner)|orient|summary (set|show|ls|close)|brief|find)\b`)
	// No tool uses these files.
	unused := map[string]bool{"app/confirm.go": true, "survey/run.go": true}
	seen := 0
	for _, pkg := range []string{"contract", "fresh", "git", "registry", "repo", "spec", "state", "store", "survey", "workflow", "app"} {
		err := filepath.WalkDir(filepath.Join("..", pkg), func(file string, d fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(os.PathSeparator)))
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || unused[name] {
				return err
			}
			for _, text := range texts(t, file) {
				if done.MatchString(text) {
					seen++
					if got := forAgents(text); done.MatchString(got) {
						t.Errorf("%s: the hint %q becomes %q, which names a command; add a phrase", name, text, got)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Errorf("found %d hints with commands, want at least 10", seen)
	}
}

// texts returns the string literals of a file, with X for inserted values.
func texts(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var flat func(e ast.Expr) string
	flat = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(e.Value); err == nil {
				return s
			}
		case *ast.BinaryExpr:
			return flat(e.X) + flat(e.Y)
		}
		return "X"
	}
	var all []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				all = append(all, flat(n))
			}
		case *ast.BinaryExpr:
			all = append(all, flat(n))
			return false
		}
		return true
	})
	return all
}
