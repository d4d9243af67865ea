package content

import (
	"errors"
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
			t.Fatal(err)
		}
	}
	tree := Open(dir, Options{})
	for _, p := range []repo.Path{"link", "away", "way/deep", "nothing", "../outside", "sub"} {
		if err := tree.Replace(p, []byte("old"), []byte("new")); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	if err := tree.Replace("plain", []byte("ol"), []byte("new")); err == nil || !strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("Replace overwrote content that the caller had not seen: %v", err)
	}
	if err := tree.Replace("sub/deep", []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"plain": "old", "sub/deep": "new"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(b) != want {
			t.Errorf("%s has %q, %v; want %q", name, b, err, want)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "sub/deep"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "sub", ".*")); len(left) > 0 {
		t.Errorf("remaining temporary files: %v", left)
	}
	if b, _ := os.ReadFile(outside); string(b) != "old" {
		t.Error("Replace followed a link out of the root")
	}
}

// Replace does not lose data that another process writes to the file meanwhile.
func TestReplaceWithConcurrentWrite(t *testing.T) {
	for _, step := range []string{"written", "looked", "replaced", "synced"} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "a.md")
			if err := os.WriteFile(name, []byte("old\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			err = Open(dir, Options{}).replace("a.md", []byte("old\n"), []byte("new\n"), func(done string) {
				if done == step {
					if _, err := f.WriteString("line\n"); err != nil {
						t.Error(err)
					}
				}
			})
			if !errors.Is(err, ErrChanged) {
				t.Errorf("error is %v", err)
			}
			if b, _ := os.ReadFile(name); string(b) != "old\nline\n" {
				t.Errorf("content is %q", b)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("remaining temporary files: %v", left)
			}
		})
	}
}

// If both the old and the new file were written to, both are kept.
func TestReplaceBothChanged(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.md")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = Open(dir, Options{}).replace("a.md", []byte("old"), []byte("new"), func(done string) {
		if done == "replaced" {
			if _, err := f.WriteString(" line"); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(name, []byte("other"), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	left, _ := filepath.Glob(filepath.Join(dir, ".a.md.*"))
	if err == nil || errors.Is(err, ErrChanged) || len(left) != 1 || !strings.Contains(err.Error(), filepath.Base(left[0])) {
		t.Fatalf("error is %v, remaining files: %v", err, left)
	}
	if old, _ := os.ReadFile(left[0]); string(old) != "old line" {
		t.Errorf("the old file has %q", old)
	}
	if b, _ := os.ReadFile(name); string(b) != "other" {
		t.Errorf("the new file has %q", b)
	}
}

func TestReplaceReadOnly(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.md")
	if err := os.WriteFile(name, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	err := Open(dir, Options{}).Replace("a.md", []byte("old"), []byte("new"))
	if err == nil || !strings.Contains(err.Error(), "may only be read") {
		t.Errorf("error is %v", err)
	}
	if b, _ := os.ReadFile(name); string(b) != "old" {
		t.Errorf("content is %q", b)
	}
}
