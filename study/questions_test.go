package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		text, fails string
	}{
		"good":      {`[{"repo":"r","question":"where is x","words":"x y","answers":["a.go"]}]`, ""},
		"no words":  {`[{"repo":"r","question":"where is x","answers":["a.go"]}]`, "question 1 needs"},
		"no answer": {`[{"repo":"r","question":"where is x","words":"x y","answers":[]}]`, "question 1 needs"},
		"none":      {`[]`, "no questions"},
		"broken":    {`[`, "unexpected end"},
	} {
		file := filepath.Join(t.TempDir(), "q.json")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := readQuestions(file)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.fails)
		}
	}
}

func TestAnswersMustExist(t *testing.T) {
	tr := tree{files: []string{"a.go", "README.md"}}
	for answer, ok := range map[string]bool{"a.go": true, "gone.go": false, "README.md": false} {
		if err := mustExist(question{"r", "where is x", "x y", []string{answer}}, tr); (err == nil) != ok {
			t.Errorf("answer %s: %v", answer, err)
		}
	}
}

func TestWithoutAskingWords(t *testing.T) {
	const asked = "Where is the rate limit handled?"
	if got, want := withoutAskingWords(asked), "the rate limit handled?"; got != want {
		t.Errorf("withoutAskingWords(%q) = %q, want %q", asked, got, want)
	}
}
