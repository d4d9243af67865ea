package content_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ken/internal/content"
	"ken/internal/repo"
)

func loadSpecs(t *testing.T, root string, now func() time.Time) (*content.Tree, []repo.LoadedFile, repo.StatDigest) {
	t.Helper()
	tree := content.Open(root, content.Options{Now: now})
	files, digest, err := tree.LoadNamed(t.Context(), ".spec", "spec.md")
	if err != nil {
		t.Fatal(err)
	}
	return tree, files, digest
}

// A stat digest changes with any change of the files.
func TestStatDigest(t *testing.T) {
	for name, change := range map[string]func(root string) error{
		"edited, as long as before": func(root string) error {
			return os.WriteFile(filepath.Join(root, ".spec/a/spec.md"), []byte("2"), 0o644)
		},
		"a node added": func(root string) error {
			return errorOf(os.Mkdir(filepath.Join(root, ".spec/b"), 0o755), os.WriteFile(filepath.Join(root, ".spec/b/spec.md"), nil, 0o644))
		},
		"a directory became a node": func(root string) error {
			return os.WriteFile(filepath.Join(root, ".spec/empty/spec.md"), nil, 0o644)
		},
		"deleted": func(root string) error { return os.Remove(filepath.Join(root, ".spec/a/spec.md")) },
		"node moved": func(root string) error {
			return os.Rename(filepath.Join(root, ".spec/a"), filepath.Join(root, ".spec/z"))
		},
		"all of it gone": func(root string) error { return os.RemoveAll(filepath.Join(root, ".spec")) },
		"a link instead": func(root string) error {
			return errorOf(os.Remove(filepath.Join(root, ".spec/a/spec.md")), os.Symlink("../../else", filepath.Join(root, ".spec/a/spec.md")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, ".spec/a/spec.md", "1")
			write(t, root, ".spec/a/deep/spec.md", "1")
			if err := os.Mkdir(filepath.Join(root, ".spec/empty"), 0o755); err != nil {
				t.Fatal(err)
			}
			tree, files, digest := loadSpecs(t, root, later)
			if len(files) != 2 || !tree.Unchanged(t.Context(), digest) {
				t.Fatalf("%d files loaded, or changed at once; want 2 that are unchanged", len(files))
			}
			if err := change(root); err != nil {
				t.Fatal(err)
			}
			if tree.Unchanged(t.Context(), digest) {
				t.Error("Unchanged is true after a change; want false")
			}
		})
	}
}

func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A file that was just written can change again without a change of its stat.
func TestDigestOfRecentFileIsZero(t *testing.T) {
	root := t.TempDir()
	write(t, root, ".spec/a/spec.md", "1")
	tree, _, digest := loadSpecs(t, root, nil)
	if !digest.IsZero() || tree.Unchanged(t.Context(), digest) {
		t.Errorf("digest of a file written just now is %v, want zero", digest)
	}
}

// A tree without specs has a digest as well, because a spec may be added.
func TestDigestWithoutFiles(t *testing.T) {
	root := t.TempDir()
	tree, files, digest := loadSpecs(t, root, nil)
	if len(files) != 0 || digest.IsZero() || !tree.Unchanged(t.Context(), digest) {
		t.Error("Unchanged is false without a change; want true")
	}
	write(t, root, ".spec/spec.md", "1")
	if tree.Unchanged(t.Context(), digest) {
		t.Error("Unchanged is true after a spec was added; want false")
	}
}

// Edited compares files with the index. A new mtime or other line endings are no edit.
func TestEdited(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"same", "touched", "edited", "gone", "crlf"} {
		write(t, root, name, name+"\n")
	}
	var entries []repo.Entry
	for _, name := range []string{"crlf", "edited", "gone", "same", "touched"} {
		entries = append(entries, repo.Entry{Path: repo.Path(name), Mode: repo.Regular, ID: repo.SHA1.Blob([]byte(name + "\n"))})
	}
	tree := content.Open(root, content.Options{})
	found, err := tree.Stat(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		entries[i].Stat = found[i].Stat
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, "touched"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "gone")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "edited", "otherwise\n")
	write(t, root, "crlf", "crlf\r\n")
	got, err := tree.Edited(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []repo.Path{"edited", "gone"}; !slices.Equal(got, want) {
		t.Errorf("Edited = %q, want %q", got, want)
	}
}
