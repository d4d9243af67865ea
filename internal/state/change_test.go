package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fault"
)

func TestApplyMakesOneSnapshotWithManifest(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "A", "d/x": "x", "l": "->a", "odd\xff": "odd", "stays": "s"})
	out := apply(t, dir, Change{
		Verb: "cleanup", WorkflowID: "w7", Keep: 5,
		Moves:  moves("a", "d", "l", "odd\xff", "never there"),
		Writes: []Write{{Name: "a", Content: []byte("new A")}},
	})
	const name = "2026-11-15T06-32-14.000000005Z-cleanup"
	if want := (Applied{Snapshot: name, Gone: []string{"never there"}}); !cmp.Equal(out, want) {
		t.Errorf("Apply returned %+v; want %+v", out, want)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "new A" {
		t.Errorf("the content of a is %q", b)
	}
	all := snapshots(t, dir)
	if len(all) != 1 || all[0].Name != name || !all[0].Time.Equal(now) || all[0].Manifest == nil {
		t.Fatalf("the snapshots are %+v; want one, %s, with a manifest", all, name)
	}
	var files []string
	for _, e := range all[0].Files {
		files = append(files, e.Name)
	}
	if !slices.Equal(files, []string{"a", "d", "l", "odd\xff"}) {
		t.Errorf("the snapshot has the files %q; want a, d, l and odd\\xff", files)
	}
	m := all[0].Manifest
	for i := range m.Files {
		if m.Files[i].Kind != "file" {
			m.Files[i].Size = 0 // the file system's business
		}
	}
	entry := func(name, kind string) ManifestEntry {
		return ManifestEntry{Name: name, Kind: kind, MTime: past, Bucket: "ad_hoc", Reason: "because"}
	}
	a, odd, l := entry("a", "file"), entry(`"odd\xff"`, "file"), entry("l", "link")
	a.Size, a.SHA256 = 1, "559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"
	odd.Size, odd.SHA256, odd.B64 = 3, "990cb8ebd0afb7150da453a213036a92f2c05e091df0d803e62d257ea7796c27", "b2Rk/w=="
	l.Target = "a"
	want := &Manifest{
		Version: 1, Verb: "cleanup", Time: now, WorkflowID: "w7",
		Files: []ManifestEntry{a, entry("d", "dir"), l, odd},
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Errorf("manifest (-want +got):\n%s", d)
	}
	names, err := os.ReadDir(filepath.Join(dir, ".archive", name))
	if err != nil || len(names) != 2 {
		t.Errorf("the snapshot contains %v, %v", names, err)
	}
}

// Two snapshots with the same time get different names; that of a reset has no suffix.
func TestSnapshotNamesAreUnique(t *testing.T) {
	dir := t.TempDir()
	for _, verb := range []string{"cleanup", "cleanup", "reset"} {
		put(t, dir, map[string]string{"a": "A"})
		apply(t, dir, Change{Verb: verb, Keep: 5, Moves: moves("a")})
	}
	want := []string{
		"2026-11-15T06-32-14.000000005Z-cleanup", "2026-11-15T06-32-14.000000006Z-cleanup", "2026-11-15T06-32-14.000000007Z",
	}
	if got := snapshotList(t, dir); !slices.Equal(got, want) {
		t.Errorf("the snapshots are %q; want %q", got, want)
	}
}

func TestEmptyChangeMakesNoSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by the lock")
	for _, c := range []Change{{Verb: "reset"}, {Verb: "reset", Moves: moves("not there"), Keep: 5}} {
		if out := apply(t, dir, c); out.Snapshot != "" || len(out.Failed) > 0 {
			t.Errorf("Apply returned %+v; want no snapshot and no failure", out)
		}
	}
	if got := snapshotList(t, dir); len(got) > 0 {
		t.Errorf("the snapshots are %q; want none", got)
	}
	got := image(t, dir)
	delete(got, ignoreName)
	if len(got) > 1 {
		t.Errorf("unexpected files: %v", got)
	}
}

// A directory that ken creates is out of git from its first moment; one that is there keeps
// its files.
func TestNewDirectoryIsIgnored(t *testing.T) {
	created := filepath.Join(t.TempDir(), "state")
	apply(t, created, Change{Verb: "reset"})
	if got, err := os.ReadFile(filepath.Join(created, ".gitignore")); err != nil || string(got) != "*\n" {
		t.Errorf(".gitignore is %q, %v; want a star", got, err)
	}
	there := t.TempDir()
	apply(t, there, Change{Verb: "reset"})
	if _, err := os.Lstat(filepath.Join(there, ".gitignore")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that was there got a .gitignore: %v", err)
	}
}

// Pruning keeps the newest snapshots by recorded time, not by name, and removes those of
// other programs last.
func TestPrune(t *testing.T) {
	for _, c := range []struct {
		keep int
		want []string
	}{
		{-1, []string{"aaa foreign", "zzz", "mid", "2026-11-15T06-32-14.000000005Z"}},
		{4, []string{"aaa foreign", "zzz", "mid", "2026-11-15T06-32-14.000000005Z"}},
		{3, []string{"aaa foreign", "mid", "2026-11-15T06-32-14.000000005Z"}},
		{2, []string{"aaa foreign", "2026-11-15T06-32-14.000000005Z"}},
		{1, []string{"2026-11-15T06-32-14.000000005Z"}},
		{0, nil},
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			".archive/aaa foreign/f": "f", ".archive/zzz/files/a": "a", ".archive/mid/files/a": "a",
			".archive/zzz/MANIFEST.json": `{"version":1,"verb":"reset","time":"2024-01-01T00:00:00Z","files":[]}`,
			".archive/mid/MANIFEST.json": `{"version":1,"verb":"reset","time":"2025-01-01T00:00:00Z","files":[]}`,
			"a":                          "a",
		})
		if err := os.Chtimes(filepath.Join(dir, ".archive/aaa foreign"), past, past); err != nil {
			t.Fatal(err)
		}
		before := snapshotList(t, dir)
		out := apply(t, dir, Change{Verb: "reset", Moves: moves("a"), Keep: c.keep})
		got := snapshotList(t, dir)
		if !slices.Equal(got, c.want) || out.PruneErr != nil {
			t.Errorf("with keep %d, the snapshots are %q, %v; want %q", c.keep, got, out.PruneErr, c.want)
		}
		gone := slices.DeleteFunc(before, func(s string) bool { return slices.Contains(got, s) })
		slices.Sort(gone)
		slices.Sort(out.Pruned)
		if !slices.Equal(gone, out.Pruned) {
			t.Errorf("keep %d: pruned %q, reported %q", c.keep, gone, out.Pruned)
		}
		if names, _ := os.ReadDir(filepath.Join(dir, ".archive")); len(names) != len(got) {
			t.Errorf("keep %d: left in the archive: %v", c.keep, names)
		}
		if _, err := os.Lstat(filepath.Join(dir, "a")); err == nil {
			t.Errorf("keep %d: a was not moved", c.keep)
		}
	}
}

// A change that makes no snapshot prunes none, whatever Keep is.
func TestPruneNeedsNewSnapshot(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "a", "b": "b"})
	apply(t, dir, Change{Verb: "reset", Moves: moves("a"), Keep: 5})
	apply(t, dir, Change{Verb: "update", Writes: []Write{{Name: "x"}, {Name: "y"}}})
	apply(t, dir, Change{Verb: "update", Writes: []Write{{Name: "x"}}})
	apply(t, dir, Change{Verb: "reset", Moves: moves("gone")})
	if got := snapshotList(t, dir); len(got) != 1 {
		t.Errorf("the snapshots are %q; want one", got)
	}
}

func TestRestoreKeepsExistingFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "old a", "b": "old b", "odd\xff": "odd"})
	name := apply(t, dir, Change{Verb: "reset", Moves: moves("a", "b", "odd\xff"), Keep: 5}).Snapshot
	put(t, dir, map[string]string{"a": "new a", "odd\xff": "new"})
	out := apply(t, dir, Change{Verb: "restore", Restore: name, Keep: 5})
	if !slices.Equal(out.Restored, []string{"b"}) || len(out.NotRestored) != 2 || !errors.Is(out.NotRestored["a"], fs.ErrExist) {
		t.Errorf("Apply returned %+v; want b restored, and the other two files kept", out)
	}
	s := snapshots(t, dir)
	if len(s) != 1 || len(s[0].Files) != 2 || len(s[0].Manifest.Files) != 2 || s[0].Manifest.Files[0].Name != "a" {
		t.Errorf("left in the archive: %+v", s)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "new a" {
		t.Errorf("the content of a is %q", b)
	}
	for _, bad := range []string{"no such", "../x", ".logs", ".", "a/b"} {
		h := lockDirectory(t, dir)
		if _, err := h.Apply(t.Context(), Change{Verb: "restore", Restore: bad}); err == nil {
			t.Errorf("restored %s; want an error", bad)
		}
		unlockDirectory(t, h)
	}
}

// A restore of some entries leaves the others in the snapshot.
func TestRestoreOnly(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "a", "b": "b", "c": "c"})
	name := apply(t, dir, Change{Verb: "cleanup", Time: past, Moves: moves("a", "b", "c"), Keep: 5}).Snapshot
	out := apply(t, dir, Change{Verb: "restore", Restore: name, RestoreOnly: []string{"b"}, Keep: 5})
	if !slices.Equal(out.Restored, []string{"b"}) || len(out.NotRestored) > 0 {
		t.Fatalf("restored %q, left %v; want only b restored and nothing left behind", out.Restored, out.NotRestored)
	}
	s := snapshots(t, dir)
	if len(s) != 1 || len(s[0].Files) != 2 || len(s[0].Manifest.Files) != 2 {
		t.Fatalf("the archive has %+v; want one snapshot with a and c", s)
	}
	// With the last entries the snapshot goes.
	out = apply(t, dir, Change{Verb: "restore", Restore: name, RestoreOnly: []string{"a", "c"}, Keep: 5})
	if !slices.Equal(out.Restored, []string{"a", "c"}) || len(snapshots(t, dir)) > 0 {
		t.Errorf("restored %q, and the archive has %d snapshots; want a and c, and none", out.Restored, len(snapshots(t, dir)))
	}
	h := lockDirectory(t, dir)
	defer unlockDirectory(t, h)
	put(t, dir, map[string]string{".archive/2020-01-01/f": "f"})
	if _, err := h.Apply(t.Context(), Change{Verb: "restore", Restore: "2020-01-01", RestoreOnly: []string{"g"}}); err == nil {
		t.Error("restored g, which the snapshot does not have; want an error")
	}
}

// A snapshot of another program is restored without its manifest.
func TestRestoreSnapshotOfAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		".archive/20200101-1/a": "a", ".archive/20200101-1/files": "a file of that name", ".archive/20200101-1/MANIFEST.txt": "a",
	})
	s := snapshots(t, dir)
	if len(s) != 1 || s[0].Manifest != nil || len(s[0].Files) != 2 {
		t.Fatalf("the snapshots are %+v; want one without a manifest, with 2 files", s)
	}
	out := apply(t, dir, Change{Verb: "restore", Restore: s[0].Name})
	if !slices.Equal(out.Restored, []string{"a", "files"}) || len(snapshots(t, dir)) > 0 {
		t.Errorf("Apply returned %+v; want a and files restored, and no snapshot left", out)
	}
}

// A snapshot with a broken manifest still lists its files.
func TestBrokenManifest(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "a"})
	name := apply(t, dir, Change{Verb: "reset", Moves: moves("a"), Keep: 5}).Snapshot
	if err := os.WriteFile(filepath.Join(dir, ".archive", name, "MANIFEST.json"), []byte("{torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := snapshots(t, dir); len(s) != 1 || s[0].Manifest != nil || len(s[0].Files) != 1 || s[0].Files[0].Name != "a" {
		t.Errorf("the snapshots are %+v; want one without a manifest, with the file a", s)
	}
}

// A link in place of the archive is not followed, and nothing is moved.
func TestArchiveMustBeADirectory(t *testing.T) {
	for _, what := range []string{"link", "inside", "file"} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		put(t, dir, map[string]string{"a": "a", "b": "b", "other/": ""})
		put(t, elsewhere, map[string]string{"snap/f": "f", ".do-x/PLAN.json": "{}", ".trash-x/f": "f"})
		archive := filepath.Join(dir, ".archive")
		var err error
		switch what {
		case "link":
			err = os.Symlink(elsewhere, archive)
		case "inside":
			err = os.Symlink("other", archive)
		case "file":
			err = os.WriteFile(archive, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		before, there := image(t, dir), image(t, elsewhere)
		d := openDir(t, dir, Options{})
		if _, err := d.Snapshots(t.Context()); err == nil || fault.HintOf(err) == "" {
			t.Errorf("%s: Snapshots returned the error %v; want one with a hint", what, err)
		}
		if un, err := unfinished(d); un || err != nil {
			t.Errorf("%s: unfinished returned %t, %v; want false", what, un, err)
		}
		h := lockDirectory(t, dir)
		if _, err := h.Apply(t.Context(), Change{Verb: "reset", Moves: moves("a"), Keep: 5}); err == nil || fault.HintOf(err) == "" {
			t.Errorf("%s: Apply returned the error %v; want one with a hint", what, err)
		}
		if err := h.CopyToArchive("a"); err == nil {
			t.Errorf("%s: the log was copied to a link", what)
		}
		if err := h.Append("a", []byte("x"), 1); err == nil {
			t.Errorf("%s: the log was moved to a link", what)
		}
		unlockDirectory(t, h)
		if d := diff(image(t, dir), before) + diff(image(t, elsewhere), there); d != "" {
			t.Errorf("%s: a refused change changed files:\n%s", what, d)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "a", "d/x": "x"})
	h := lockDirectory(t, dir)
	defer unlockDirectory(t, h)
	write := func(names ...string) (all []Write) {
		for _, name := range names {
			all = append(all, Write{Name: name})
		}
		return all
	}
	before := image(t, dir)
	for name, c := range map[string]Change{
		"no verb": {Moves: moves("a")}, "verb": {Verb: "../x", Moves: moves("a")}, "slash": {Verb: "reset", Moves: moves("d/x")},
		"dots": {Verb: "reset", Moves: moves("..")}, "the archive": {Verb: "reset", Moves: moves(".archive")},
		"the lock": {Verb: "reset", Moves: moves(".lock")}, "twice": {Verb: "reset", Writes: write("x", "x")},
		"over a directory": {Verb: "init", Writes: write("d", "x")}, "one over a directory": {Verb: "init", Writes: write("d")},
		"write slash": {Verb: "init", Writes: write("d/x", "x")}, "empty": {Verb: "reset", Moves: moves("")},
	} {
		if _, err := h.Apply(t.Context(), c); err == nil {
			t.Errorf("%s: accepted; want an error", name)
		}
		if d := diff(image(t, dir), before); d != "" {
			t.Fatalf("%s: a refused change changed files:\n%s", name, d)
		}
	}
}

// An entry that cannot be moved is reported, and the others move.
func TestFailedMoveIsReported(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "a", "b": "b", "c": "c"})
	h := lockDirectory(t, dir)
	h.step = func(what string) error {
		if strings.HasPrefix(what, "rename b ") {
			return fs.ErrPermission
		}
		return nil
	}
	out, err := h.Apply(t.Context(), Change{Verb: "reset", Time: now, Moves: moves("a", "b", "c"), Keep: 5})
	if err != nil || len(out.Failed) != 1 || !errors.Is(out.Failed["b"], fs.ErrPermission) {
		t.Errorf("Apply returned %+v, %v; want only b to fail", out, err)
	}
	h.step = nil
	unlockDirectory(t, h)
	if s := snapshots(t, dir); len(s) != 1 || len(s[0].Files) != 2 || len(s[0].Manifest.Files) != 2 {
		t.Errorf("the snapshots are %+v; want one with 2 files", s)
	}
}

// An unreadable plan is kept as a snapshot and blocks nothing.
func TestUnreadablePlanIsSalvaged(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{".archive/.do-x/PLAN.json": "{torn", ".archive/.do-x/files/a": "a", ".archive/.do-y/files/b": "b"})
	d := openDir(t, dir, Options{})
	if un, err := unfinished(d); !un || err != nil {
		t.Errorf("unfinished returned %t, %v; want true", un, err)
	}
	unlockDirectory(t, lockDirectory(t, dir))
	if un, err := unfinished(d); un || err != nil {
		t.Errorf("then unfinished %v, %v", un, err)
	}
	if s := snapshots(t, dir); len(s) != 2 || !strings.HasSuffix(s[0].Name, "-unreadable") {
		t.Errorf("the snapshots are %+v; want 2, the first named -unreadable", s)
	}
	got := image(t, filepath.Join(dir, ".archive"))
	found := 0
	for path := range got {
		if strings.HasSuffix(path, "/files/a") || strings.HasSuffix(path, "/files/b") {
			found++
		}
	}
	if found != 2 {
		t.Errorf("unexpected files: %v", got)
	}
}

// A manipulated plan cannot write outside the directory.
func TestManipulatedPlanStaysInside(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"state/a": "a", "outside": "o",
		"state/.archive/.do-x/PLAN.json": `{"version":1,"verb":"reset","time":"2026-01-01T00:00:00Z","keep":5,"moves":[{"name":"Li4vb3V0c2lkZQ=="}]}`,
		"state/.archive/.do-x/files/":    "", "state/.archive/.do-x/new/": "",
	})
	unlockDirectory(t, lockDirectory(t, filepath.Join(dir, "state")))
	if b, _ := os.ReadFile(filepath.Join(dir, "outside")); string(b) != "o" {
		t.Errorf("the file outside was changed to %q", b)
	}
}

func TestSnapshotsOfMissingDirectory(t *testing.T) {
	d := openDir(t, filepath.Join(t.TempDir(), "none"), Options{})
	if s, err := d.Snapshots(t.Context()); s != nil || err != nil {
		t.Errorf("Snapshots returned %v, %v; want none", s, err)
	}
	if un, err := unfinished(d); un || err != nil {
		t.Errorf("unfinished returned %t, %v; want false", un, err)
	}
	if e, err := d.Entries(t.Context()); len(e) != 0 || err != nil {
		t.Errorf("Entries returned %v, %v; want none", e, err)
	}
	if _, err := d.Read("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read returned the error %v; want %v", err, fs.ErrNotExist)
	}
}

// unfinished reports whether a change is unfinished.
func unfinished(d *Dir) (bool, error) {
	m, err := d.archiveMark()
	return m.unfinished, err
}

// A plan from a copy or a checkout is not carried out. Its folder is kept as a snapshot
// and blocks nothing.
func TestPlanOfAnotherDirectoryIsNotCarriedOut(t *testing.T) {
	for what, plant := range map[string]func(dir, home string) map[string]string{
		"of another directory": func(string, string) map[string]string {
			return map[string]string{"PLAN.json": `{"version":1,"home":"1:1","verb":"reset","time":"2026-01-01T00:00:00Z","keep":0,"moves":[{"name":"YQ=="}],"writes":[]}`}
		},
		"without a home": func(string, string) map[string]string {
			return map[string]string{"PLAN.json": `{"version":1,"verb":"reset","time":"2026-01-01T00:00:00Z","keep":0,"moves":[{"name":"YQ=="}],"writes":[]}`}
		},
		"from elsewhere": func(_, home string) map[string]string {
			return map[string]string{"PLAN.json": `{"version":1,"home":"` + home + `","verb":"restore","time":"2026-01-01T00:00:00Z","keep":-1,"restore":"s","from":"../..","back":["YQ=="],"moves":[],"writes":[]}`}
		},
		"of the lock": func(_, home string) map[string]string {
			return map[string]string{"PLAN.json": `{"version":1,"home":"` + home + `","verb":"reset","time":"2026-01-01T00:00:00Z","keep":5,"moves":[{"name":"LmxvY2s="}],"writes":[]}`}
		},
		"that is a directory": func(string, string) map[string]string { return map[string]string{"PLAN.json/x": "x"} },
		"without its folders": func(_, home string) map[string]string {
			return map[string]string{"PLAN.json": `{"version":1,"home":"` + home + `","verb":"reset","time":"2026-01-01T00:00:00Z","keep":5,"moves":[{"name":"YQ=="}],"writes":[]}`}
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{"a": "A"}
			for name, content := range plant(dir, identity(info)) {
				files[".archive/.do-x/"+name] = content
			}
			put(t, dir, files)
			d := openDir(t, dir, Options{})
			h, err := d.Lock(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Unlock(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "a")); string(b) != "A" {
				t.Errorf("the file a has %q, %v; want \"A\"", b, err)
			}
			if un, err := unfinished(d); un || err != nil {
				t.Errorf("unfinished returned %t, %v; want false", un, err)
			}
			if s := snapshots(t, dir); len(s) != 1 || !strings.HasSuffix(s[0].Name, "-unreadable") {
				t.Errorf("the snapshots are %+v; want one, named -unreadable", s)
			}
		})
	}
}

// Moving and restoring a large file does not read it, so that others do not wait for the
// lock. The manifest has no digest of it then; its size and time stand in.
func TestLargeFileIsNotRead(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"large": "", "small": "s", "sparse": ""})
	for _, name := range []string{"large", "sparse"} {
		if err := os.Truncate(filepath.Join(dir, name), maxDigested+1); err != nil {
			t.Fatal(err)
		}
	}
	out := apply(t, dir, Change{Verb: "cleanup", Moves: moves("large", "small", "sparse"), Keep: 5})
	for _, m := range snapshots(t, dir)[0].Manifest.Files {
		if digested := m.SHA256 != ""; digested != (m.Name == "small") {
			t.Errorf("%s has the digest %q; want one of small files only", m.Name, m.SHA256)
		}
	}
	in := filepath.Join(dir, ".archive", out.Snapshot, "files")
	if err := os.Truncate(filepath.Join(in, "sparse"), maxDigested+2); err != nil {
		t.Fatal(err)
	}
	out = apply(t, dir, Change{Verb: "restore", Restore: out.Snapshot, Keep: 5})
	if !slices.Equal(out.Restored, []string{"large", "small"}) {
		t.Errorf("restored %q; want large and small", out.Restored)
	}
	if out.NotRestored["sparse"] == nil || !strings.Contains(out.NotRestored["sparse"].Error(), "changed in the archive") {
		t.Errorf("left %v; want sparse, since its size changed in the archive", out.NotRestored)
	}
}
