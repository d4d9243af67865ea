package repo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ken/internal/repo"
)

// An escaped document has no misleading character, and a parser reads the same text from it.
func TestEscapeJSON(t *testing.T) {
	check := func(t *testing.T, text string) {
		t.Helper()
		document, err := json.MarshalIndent(map[string]string{"text": text}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		safe := repo.EscapeJSON(document)
		for _, r := range string(safe) {
			if r != '\n' && r != '\t' && repo.IsMisleading(r) {
				t.Errorf("%q still has %U", safe, r)
			}
		}
		var before, after map[string]string
		if err := json.Unmarshal(document, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safe, &after); err != nil {
			t.Fatalf("%q is not JSON any more: %v", safe, err)
		}
		if before["text"] != after["text"] {
			t.Errorf("the text %q became %q", before["text"], after["text"])
		}
	}
	for _, text := range []string{"plain", "a\u009bb", "a\u202eb\u2066", "\x7f", "tag \U000E0041", "ä 日本 👩\u200d💻", `\u009b`, "\xff"} {
		check(t, text)
	}
	if plain := []byte(`{"a": "ä"}`); &repo.EscapeJSON(plain)[0] != &plain[0] {
		t.Error("a document without misleading characters was copied")
	}
	if got := string(repo.EscapeJSON([]byte("\"\u009b\""))); !strings.Contains(got, `\u009b`) {
		t.Errorf("want the escape of U+009B, got %q", got)
	}
}
