package permission

import (
	"os"
	"path/filepath"
	"testing"
)

// has returns true for an allowed request, and false for one that differs in any part.
func TestStored(t *testing.T) {
	dir := t.TempDir()
	c := Checker{StateDir: dir, Repository: "/r/.git"}
	asked := Request{Repository: "/r/.git", For: "openai", Address: "http://localhost:1", Key: "OPENAI_API_KEY", Model: "m", Prices: "m 1 0 0 2"}
	others := []Request{
		{Repository: "/q/.git", For: asked.For, Address: asked.Address, Key: asked.Key, Model: asked.Model, Prices: asked.Prices},
		{Repository: asked.Repository, For: "anthropic", Address: asked.Address, Key: asked.Key, Model: asked.Model, Prices: asked.Prices},
		{Repository: asked.Repository, For: asked.For, Address: "http://localhost:2", Key: asked.Key, Model: asked.Model, Prices: asked.Prices},
		{Repository: asked.Repository, For: asked.For, Address: asked.Address, Key: asked.Key, Model: "n", Prices: asked.Prices},
		{Repository: asked.Repository, For: asked.For, Address: asked.Address, Key: asked.Key, Model: asked.Model},
	}
	if c.has(asked) {
		t.Error("the request is allowed before add")
	}
	if err := c.add(asked); err != nil {
		t.Fatal(err)
	}
	if !c.has(asked) || !(Checker{StateDir: dir}).has(asked) {
		t.Error("the request is not allowed after add")
	}
	for _, other := range others {
		if c.has(other) {
			t.Errorf("add also allowed %+v", other)
		}
	}
	if list, err := c.list(); err != nil || len(list) != 1 || list[0] != asked {
		t.Errorf("list returned %+v, %v; want the allowed request", list, err)
	}
	if list, err := (Checker{StateDir: dir, Repository: "/q/.git"}).list(); err != nil || len(list) != 0 {
		t.Errorf("list returned %+v, %v for another repository; want none", list, err)
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
		if c.has(asked) {
			t.Errorf("a file with %q allows the request", text)
		}
	}
	if err := c.add(asked); err != nil || !c.has(asked) {
		t.Errorf("add after a damaged file: %v", err)
	}
	if err := c.remove(asked); err != nil || c.has(asked) {
		t.Errorf("remove: %v; still allowed: %v", err, c.has(asked))
	}
	if err := c.remove(asked); err != nil {
		t.Errorf("second remove: %v", err)
	}

	none := Checker{}
	if err := none.add(asked); err == nil || none.has(asked) {
		t.Error("a request is allowed without a state directory")
	}
}
