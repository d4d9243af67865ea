package find

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/outline"
	"ken/internal/repo"
)

func TestHasPath(t *testing.T) {
	for _, tt := range []struct {
		line, path string
		want       bool
	}{
		{"go run limit/limit.go", "limit/limit.go", true},
		{"go run ./limit/limit.go.", "limit/limit.go", true},
		{"`limit/limit.go`", "limit/limit.go", true},
		{"sub/limit/limit.go", "limit/limit.go", false},
		{"limit/limit.go.bak", "limit/limit.go", false},
		{"rlimit/limit.go", "limit/limit.go", false},
		{"xlimit/limit.go limit/limit.go", "limit/limit.go", true},
		{"limit/limit.gox", "limit/limit.go", false},
		{"../limit/limit.go", "../limit/limit.go", true},
		{"", "limit/limit.go", false},
	} {
		if got := hasPath(tt.line, tt.path); got != tt.want {
			t.Errorf("hasPath(%q, %q) is %t, expected %t", tt.line, tt.path, got, tt.want)
		}
	}
}

func TestRelativeTo(t *testing.T) {
	for _, tt := range []struct{ dir, path, want string }{
		{"", "a/b.go", "a/b.go"},
		{"a", "a/b.go", "b.go"},
		{"a/c", "a/b.go", "../b.go"},
		{"x/y", "a/b.go", "../../a/b.go"},
		{"ab", "a/b.go", "../a/b.go"},
	} {
		if got := relativeTo(repo.Path(tt.dir), repo.Path(tt.path)); got != tt.want {
			t.Errorf("%s from %q is %q, expected %q", tt.path, tt.dir, got, tt.want)
		}
	}
}

func TestSameWords(t *testing.T) {
	words := nameWords("commitReword")
	if strings.Join(words, " ") != "commit reword" {
		t.Fatalf("the words of commitReword are %q", words)
	}
	for name, want := range map[string]bool{
		"commit_reword": true, "CommitReword": true, "COMMIT_REWORD": true, "commit-reword": true, "commit_reword_cmd": true, "doCommitReword": true,
		"commit": false, "reword": false, "rewordCommit": false, "commit_and_reword": false, "try_commit_reword_cmd": false,
	} {
		if got := sameWords(name, words); got != want {
			t.Errorf("sameWords(%s) is %t, expected %t", name, got, want)
		}
	}
}

func TestDeclaredAt(t *testing.T) {
	lines := strings.Split("// Allow allows.\n// More.\nfunc (l *Limiter)  Allow() bool {\n\treturn Allow\n}", "\n")
	s := &outline.Symbol{Name: "Allow", Line: 1, EndLine: 5, Signature: "func (l *Limiter) Allow() bool"}
	if got := declaredAt(s, lines); got != 3 {
		t.Errorf("declared at line %d, expected 3: comments do not count", got)
	}
	if got := declaredAt(&outline.Symbol{Name: "Allow", Line: 1, EndLine: 2, Signature: "Allow() bool"}, []string{"// Allow allows.", "Allow() bool"}); got != 2 {
		t.Errorf("a method of an interface is declared at line %d, expected 2: its comment has the name, too", got)
	}
	s.Signature = "something else"
	if got := declaredAt(s, lines); got != 3 {
		t.Errorf("with another signature, declared at line %d, expected 3", got)
	}
	if got := declaredAt(s, nil); got != 1 {
		t.Errorf("without the content, declared at line %d, expected its first line", got)
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"commitReword", "Limiter", "Limits"}
	for asked, want := range map[string]string{
		"commit_reword": "did you mean commitReword?",
		"Limitr":        "did you mean Limiter?",
		"zebra":         "otherwise",
	} {
		if got := didYouMean(asked, names, "otherwise"); got != want {
			t.Errorf("%s: hint %q, expected %q", asked, got, want)
		}
	}
}

func TestPromptQuery(t *testing.T) {
	for prompt, want := range map[string]string{
		"thanks":                              "",
		"run the tests again":                 "",
		"continue":                            "",
		"please commit this and push":         "",
		"where is the session cookie signed?": "session cookie signed",
		"`stream_with_context` leaks":         "stream_with_context leaks",
		"fix internal/parse/parse.go":         "internal/parse/parse.go",
	} {
		words, _ := promptQuery(prompt)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q searches for %q, expected %q", prompt, got, want)
		}
	}
	for word, want := range map[string]bool{"NewStore": true, "max_age": true, "a/b.go": true, "flask.app": true, "Where": false, "etcd": false, "e.g": true, "HTTP": false} {
		if got := isIdentifier(word); got != want {
			t.Errorf("isIdentifier(%s) is %t, expected %t", word, got, want)
		}
	}
}

// The query of any prompt is bounded and contains only words.
func TestPromptQueryIsLimited(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words, names := promptQuery(rapid.String().Draw(t, "prompt"))
		if len(words) > promptTerms || len(names) > len(words) {
			t.Fatalf("%d words and %d names, expected at most %d words", len(words), len(names), promptTerms)
		}
		for _, w := range words {
			if strings.ContainsAny(w, "\"'*(){}\n\x00 ") {
				t.Fatalf("the word %q has a character that is no part of a word", w)
			}
		}
	})
}
