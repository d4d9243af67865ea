package state

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawName draws a name of any bytes but the two that no name has.
func drawName(t *rapid.T) string {
	name := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,8}(-[a-z]{1,5})?\.(md|json|txt)`),
		rapid.StringMatching(`[ .\n"\\A-Z'*]{1,6}x`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 40), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 255, 255), func(b []byte) string { return string(b) }),
	).Draw(t, "name")
	name = strings.NewReplacer("/", "_", "\x00", "0").Replace(name)
	if name == "." || name == ".." || name == testNames.Lock || name == testNames.Archive || unseen(name) {
		return "plain"
	}
	return name
}

// drawTree makes a random directory and returns its names.
func drawTree(t *rapid.T, dir string, depth int) []string {
	seen := make(map[string]bool)
	for range rapid.IntRange(0, 8).Draw(t, "entries") {
		name := drawName(t)
		if seen[name] {
			continue
		}
		seen[name] = true
		path := filepath.Join(dir, name)
		at := time.Unix(rapid.Int64Range(0, 1.5e9).Draw(t, "sec"), rapid.Int64Range(0, 999999999).Draw(t, "nsec"))
		mode := os.FileMode(rapid.SampledFrom([]int{0o644, 0o600, 0o755, 0o444, 0o700}).Draw(t, "mode"))
		var err error
		switch kind := rapid.SampledFrom([]string{"file", "file", "file", "dir", "link"}).Draw(t, "kind"); {
		case kind == "link":
			target := strings.ReplaceAll(rapid.StringN(1, 20, 60).Draw(t, "target"), "\x00", "0")
			err = os.Symlink(target, path)
		case kind == "dir" && depth > 0:
			if err = os.Mkdir(path, 0o755); err == nil {
				drawTree(t, path, depth-1)
				err = os.Chmod(path, mode|0o700)
			}
		default:
			err = os.WriteFile(path, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "content"), 0o644)
			if err == nil {
				err = os.Chmod(path, mode)
			}
		}
		if err == nil {
			err = lchtimes(path, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Restoring a reset gives the same directory, with all times and modes, and leaves
// nothing in the archive.
func TestRestoreUndoesReset(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := memoryDir(t)
		names := drawTree(rt, dir, 2)
		before := image(t, dir)
		list, err := openDir(t, dir, Options{}).Entries(context.Background())
		if err != nil || len(list) != len(names) {
			rt.Fatalf("entries %v, %v; want %q", list, err, names)
		}
		for i, e := range list {
			if e.Name != names[i] {
				rt.Fatalf("entry %d is %q, want %q", i, e.Name, names[i])
			}
		}
		out := apply(t, dir, Change{Verb: "reset", Moves: moves(names...), Keep: 5})
		left, err := openDir(t, dir, Options{}).Entries(context.Background())
		if err != nil || len(left) > 1 || len(out.Failed) > 0 { // the archive
			rt.Fatalf("left %v, %v; failed %v", left, err, out.Failed)
		}
		if len(names) > 0 {
			for i, s := range snapshots(t, dir) {
				if i > 0 || len(s.Files) != len(names) || len(s.Manifest.Files) != len(names) {
					rt.Fatalf("a snapshot is %+v; want one snapshot with %d files", s, len(names))
				}
			}
			out = apply(t, dir, Change{Verb: "restore", Restore: out.Snapshot, Keep: 5})
			if len(out.Restored) != len(names) || len(out.NotRestored) > 0 {
				rt.Fatalf("Apply returned %+v; want all %d files restored", out, len(names))
			}
		}
		after := image(t, dir)
		delete(after, testNames.Archive)
		if d := diff(after, before); d != "" {
			rt.Fatalf("the directory differs:\n%s", d)
		}
		if left, _ := os.ReadDir(filepath.Join(dir, testNames.Archive)); len(left) > 0 {
			rt.Fatalf("left in the archive: %v", left)
		}
	})
}

// After any number of changes, the archive has the last snapshot and the newest others, up
// to the limit.
func TestPruneKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := memoryDir(t)
		var model []string
		at := now
		for range rapid.IntRange(1, 10).Draw(rt, "changes") {
			put(t, dir, map[string]string{"a": "a"})
			keep := rapid.IntRange(-1, 4).Draw(rt, "keep")
			at = at.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "later")))
			verb := rapid.SampledFrom([]string{"reset", "cleanup", "evict"}).Draw(rt, "verb")
			out := apply(t, dir, Change{Verb: verb, Time: at, Moves: moves("a"), Keep: keep})
			if keep >= 0 {
				model = model[max(0, len(model)-max(keep-1, 0)):]
			}
			if keep != 0 {
				model = append(model, out.Snapshot)
			}
			slices.Sort(model) // one second holds them all, so by time too
			if got := snapshotList(t, dir); !slices.Equal(got, model) {
				rt.Fatalf("snapshots %q, want %q", got, model)
			}
		}
	})
}
