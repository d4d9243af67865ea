package content

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/repo"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for name, text := range map[string]string{"plain": "old", "sub/deep": "old"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "plain", "away": outside, "way": "sub"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here")
		}
	}
	tree := Open(dir, Options{})
	for _, p := range []repo.Path{"link", "away", "way/deep", "nothing", "../outside", "sub"} {
		if err := tree.Replace(p, []byte("old"), []byte("new")); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	if err := tree.Replace("plain", []byte("ol"), []byte("new")); err == nil || !strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("what nobody has seen was overwritten: %v", err)
	}
	if err := tree.Replace("sub/deep", []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"plain": "old", "sub/deep": "new"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(b) != want {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "sub/deep"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "sub", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if b, _ := os.ReadFile(outside); string(b) != "old" {
		t.Error("a link was followed out of the root")
	}
}
