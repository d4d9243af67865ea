package find

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
