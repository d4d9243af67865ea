package fault_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"ken/internal/fault"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b.db": "/a/b.db", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "ü": "'ü'",
		"=ls": "'=ls'", `a\b`: `'a\b'`, `a\`: `'a'\\''`,
	} {
		if got := fault.Quote(in); got != want {
			t.Errorf("fault.Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

// A quoted word is the same in each shell.
func TestQuotedWordsInShells(t *testing.T) {
	words := []string{
		"it's", `a\b`, `\\'\`, `'\''`, `x\`, "=ls", "a b", "$HOME", "!!", "~", "{a,b}", "*", "é", "`x`", "$(x)", "(x)", ";x;", "&x&", "|x", `"$(x)"`,
		`\';x;#`,
	}
	var lines []string
	for _, word := range words {
		lines = append(lines, "printf '<%s>\\n' "+fault.Quote(word))
	}
	want := "<" + strings.Join(words, ">\n<") + ">\n"
	for _, shell := range [][]string{{"bash", "--norc"}, {"zsh", "-f"}, {"fish", "--no-config"}} {
		cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", strings.Join(lines, "\n"))...)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s: %v, it reads\n%swant\n%s", shell[0], err, out, want)
		}
	}
}

// A remark behind a command is plain or quoted.
func TestWithRemark(t *testing.T) {
	for in, want := range map[string]string{
		"": "go test .", "a_test.go named for it, +2": "go test .  # a_test.go named for it, +2", "`x`/a.go": "go test .  # '`x`/a.go'", "(x)": "go test .  # '(x)'",
	} {
		if got := fault.WithRemark("go test .", in); got != want {
			t.Errorf("WithRemark(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestKindAndHintAreFoundInTheChain(t *testing.T) {
	inner := &fault.Error{Kind: fault.Locked, Hint: "wait", Err: errors.New("busy")}
	outer := fmt.Errorf("store: %w", &fault.Error{Kind: fault.Stale, Err: inner})
	if fault.KindOf(outer) != fault.Stale || fault.HintOf(outer) != "wait" {
		t.Errorf("kind %v, hint %q", fault.KindOf(outer), fault.HintOf(outer))
	}
	if plain := errors.New("x"); fault.KindOf(plain) != fault.Failed || fault.HintOf(plain) != "" {
		t.Error("a plain error has a kind or a hint of its own")
	}
}
