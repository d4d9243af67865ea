package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"ken/internal/allow"
	"ken/internal/store/local"
)

// Has returns true for an allowed request, and false for one that differs in any part.
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
		t.Error("the request is allowed before Add")
	}
	if err := a.Add(asked); err != nil {
		t.Fatal(err)
	}
	if !a.Has(asked) || !local.OpenAllowed(dir).Has(asked) {
		t.Error("the request is not allowed after Add")
	}
	for _, other := range others {
		if a.Has(other) {
			t.Errorf("Add also allowed %+v", other)
		}
	}
	if list, err := a.List("/r/.git"); err != nil || len(list) != 1 || list[0] != asked {
		t.Errorf("List returned %+v, %v; want the allowed request", list, err)
	}
	if list, err := a.List("/q/.git"); err != nil || len(list) != 0 {
		t.Errorf("List returned %+v, %v for another repository; want none", list, err)
	}

	// A file with another content allows nothing.
	files, err := filepath.Glob(filepath.Join(dir, "ken", "allowed", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the directory has %q, %v; want one file", files, err)
	}
	for _, text := range []string{"", "{}", `{"repository":"/r/.git","for":"openai","address":"http://localhost:2"}`, "nonsense"} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a.Has(asked) {
			t.Errorf("a file with %q allows the request", text)
		}
	}
	if err := a.Add(asked); err != nil || !a.Has(asked) {
		t.Errorf("Add after a damaged file: %v", err)
	}
	if err := a.Remove(asked); err != nil || a.Has(asked) {
		t.Errorf("Remove: %v; still allowed: %v", err, a.Has(asked))
	}
	if err := a.Remove(asked); err != nil {
		t.Errorf("second Remove: %v", err)
	}

	none := local.OpenAllowed("")
	if err := none.Add(asked); err == nil || none.Has(asked) {
		t.Error("a request is allowed without a state directory")
	}
}
