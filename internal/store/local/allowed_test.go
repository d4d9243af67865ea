package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"ken/internal/allow"
	"ken/internal/store/local"
)

// Exactly what was allowed is allowed, and nothing that differs in any part.
func TestAllowed(t *testing.T) {
	dir := t.TempDir()
	a := local.OpenAllowed(dir)
	asked := allow.Request{Repository: "/r/.git", For: "openai", Address: "http://localhost:1", Key: "OPENAI_API_KEY", Model: "m", Prices: "m 1 0 0 2"}
	others := []allow.Request{
		{Repository: "/q/.git", For: asked.For, Address: asked.Address, Key: asked.Key, Model: asked.Model, Prices: asked.Prices},
		{Repository: asked.Repository, For: "anthropic", Address: asked.Address, Key: asked.Key, Model: asked.Model, Prices: asked.Prices},
		{Repository: asked.Repository, For: asked.For, Address: "http://localhost:2", Key: asked.Key, Model: asked.Model, Prices: asked.Prices},
		{Repository: asked.Repository, For: asked.For, Address: asked.Address, Key: asked.Key, Model: "n", Prices: asked.Prices},
		{Repository: asked.Repository, For: asked.For, Address: asked.Address, Key: asked.Key, Model: asked.Model},
	}
	if a.Has(asked) {
		t.Error("it is allowed before anybody said so")
	}
	if err := a.Add(asked); err != nil {
		t.Fatal(err)
	}
	if !a.Has(asked) || !local.OpenAllowed(dir).Has(asked) {
		t.Error("it is not allowed after it was")
	}
	for _, other := range others {
		if a.Has(other) {
			t.Errorf("%+v is allowed too", other)
		}
	}
	if list, err := a.List("/r/.git"); err != nil || len(list) != 1 || list[0] != asked {
		t.Errorf("want the one request, not %+v, %v", list, err)
	}
	if list, err := a.List("/q/.git"); err != nil || len(list) != 0 {
		t.Errorf("of another repository: %+v, %v", list, err)
	}

	// A file that says something else allows nothing.
	files, err := filepath.Glob(filepath.Join(dir, "ken", "allowed", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("want one file, not %q, %v", files, err)
	}
	for _, text := range []string{"", "{}", `{"repository":"/r/.git","for":"openai","address":"http://localhost:2"}`, "nonsense"} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a.Has(asked) {
			t.Errorf("a file with %q allows it", text)
		}
	}
	if err := a.Add(asked); err != nil || !a.Has(asked) {
		t.Errorf("allowed again: %v", err)
	}
	if err := a.Remove(asked); err != nil || a.Has(asked) {
		t.Errorf("withdrawn: %v; still allowed: %v", err, a.Has(asked))
	}
	if err := a.Remove(asked); err != nil {
		t.Errorf("withdrawn twice: %v", err)
	}

	none := local.OpenAllowed("")
	if err := none.Add(asked); err == nil || none.Has(asked) {
		t.Error("without a directory something is allowed")
	}
}
