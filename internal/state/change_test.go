package state

import (
	"errors"
	"fmt"
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
		Moves: moves("a", "d", "l", "odd\xff", "never there"),
		Write: &Write{Name: "a", Content: []byte("new A")},
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
	apply(t, dir, Change{Verb: "update", Write: &Write{Name: "x"}})
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
		put(t, elsewhere, map[string]string{"snap/f": "f", "2026-01-01T00-00-00.000000000Z.tmp/CHANGE.json": "{}", ".trash-x/f": "f"})
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
		if err := h.SetAside("a"); err == nil {
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
	before := image(t, dir)
	for name, c := range map[string]Change{
		"no verb": {Moves: moves("a")}, "verb": {Verb: "../x", Moves: moves("a")}, "slash": {Verb: "reset", Moves: moves("d/x")},
		"dots": {Verb: "reset", Moves: moves("..")}, "the archive": {Verb: "reset", Moves: moves(".archive")},
		"the lock": {Verb: "reset", Moves: moves(".lock")}, "write the lock": {Verb: "init", Write: &Write{Name: ".lock"}},
		"over a directory": {Verb: "init", Moves: moves("a"), Write: &Write{Name: "d"}}, "only over a directory": {Verb: "init", Write: &Write{Name: "d"}},
		"write slash": {Verb: "init", Write: &Write{Name: "d/x"}}, "empty": {Verb: "reset", Moves: moves("")},
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

// Names of the folders of unfinished changes: one with a new file is not decided.
const (
	undecided = ".archive/2026-01-01T00-00-00.000000000Z.tmp/"
	decided   = ".archive/2026-01-01T00-00-00.000000001Z.tmp/"
)

// The folder of a change whose record is unreadable is kept as a snapshot and blocks nothing.
func TestUnreadableRecordIsKept(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{undecided + "CHANGE.json": "{torn", undecided + "new": "", undecided + "files/a": "a", decided + "files/b": "b"})
	d := openDir(t, dir, Options{})
	if un, err := unfinished(d); !un || err != nil {
		t.Errorf("unfinished returned %t, %v; want true", un, err)
	}
	unlockDirectory(t, lockDirectory(t, dir))
	if un, err := unfinished(d); un || err != nil {
		t.Errorf("then unfinished %v, %v", un, err)
	}
	if s := snapshots(t, dir); len(s) != 2 || !strings.HasSuffix(s[0].Name, "-unfinished") || s[0].Manifest == nil {
		t.Errorf("the snapshots are %+v; want 2, the first named -unfinished", s)
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

// A manipulated change cannot write outside the directory.
func TestManipulatedChangeStaysInside(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "state")
	put(t, base, map[string]string{
		"state/a": "a", "outside": "o",
		"state/" + undecided + "files": "->../../..", "state/" + decided + "files/": "",
		"state/" + decided + "MANIFEST.json": `{"version":1,"verb":"../../../outside","time":"2026-01-01T00:00:00Z","files":[]}`,
		"state/" + decided + "files/b":       "b", "state/" + undecided + "new": "new",
	})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	record := `{"version":1,"home":"` + identity(info) + `","keep":0,"restore":"../../..","back":["Li4vb3V0c2lkZQ=="]}`
	put(t, base, map[string]string{"state/" + undecided + "CHANGE.json": record})
	unlockDirectory(t, lockDirectory(t, dir))
	if b, _ := os.ReadFile(filepath.Join(base, "outside")); string(b) != "o" {
		t.Errorf("the file outside was changed to %q", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "a" {
		t.Errorf("the file a was changed to %q", b)
	}
}

// A file that another program writes after a kill is not overwritten, and the old file is in
// the archive.
func TestUndoKeepsNewerFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"moved": "old", "free": "old", "document": "old"})
	s := scenario{act: func(h *Locked) error {
		step := h.step
		h.step = func(what string) error {
			if strings.HasSuffix(what, "/new document") {
				panic(crashed{}) // the step that decides
			}
			return step(what)
		}
		document := &Write{Name: "document", Content: []byte("new")}
		_, err := h.Apply(t.Context(), Change{Verb: "init", Time: now, Keep: 5, Moves: moves("moved", "free", "document"), Write: document})
		return err
	}}
	if _, lived := s.run(t, dir, s.act, -1); lived {
		t.Fatal("the process was not killed")
	}
	put(t, dir, map[string]string{"moved": "another's"})
	if err := os.Remove(filepath.Join(dir, "document")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"document": "another's"})
	unlockDirectory(t, lockDirectory(t, dir))
	for name, want := range map[string]string{"moved": "another's", "document": "another's", "free": "old"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != want {
			t.Errorf("%s is %q, %v; want %q", name, b, err, want)
		}
	}
	all := snapshots(t, dir)
	if len(all) != 1 || !strings.HasSuffix(all[0].Name, "-unfinished") || all[0].Manifest == nil {
		t.Fatalf("the snapshots are %+v; want one, named -unfinished, with a manifest", all)
	}
	got := image(t, filepath.Join(dir, ".archive", all[0].Name, "files"))
	for _, name := range []string{"moved", "document"} {
		if !strings.HasSuffix(got[name], " old") {
			t.Errorf("the archived files are %q; want the old moved and document", got)
		}
	}
	if len(got) != 2 {
		t.Errorf("the archived files are %q; want two", got)
	}
}

// Undoing a restore moves the restored files back to their snapshot, but not one that another
// program wrote since.
func TestUndoOfARestoreKeepsNewerFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "old", "b": "old"})
	name := apply(t, dir, Change{Verb: "reset", Moves: moves("a", "b"), Keep: 5}).Snapshot
	s := scenario{act: func(h *Locked) error {
		step := h.step
		h.step = func(what string) error {
			if strings.HasPrefix(what, "remove ") && strings.HasSuffix(what, "/new") {
				panic(crashed{}) // the step that decides
			}
			return step(what)
		}
		_, err := h.Apply(t.Context(), Change{Verb: "restore", Time: now, Keep: 5, Restore: name})
		return err
	}}
	if _, lived := s.run(t, dir, s.act, -1); lived {
		t.Fatal("the process was not killed")
	}
	put(t, dir, map[string]string{"a": "another's"})
	unlockDirectory(t, lockDirectory(t, dir))
	if b, err := os.ReadFile(filepath.Join(dir, "a")); string(b) != "another's" {
		t.Errorf("a is %q, %v; want what the other program wrote", b, err)
	}
	all := snapshots(t, dir)
	if len(all) != 1 || len(all[0].Files) != 1 || all[0].Files[0].Name != "b" {
		t.Errorf("the snapshots are %+v; want one with b", all)
	}
}

// The old file also survives if the process that cannot bring it back is killed, and if the
// archive keeps no snapshots.
func TestKilledUndoKeepsOldFiles(t *testing.T) {
	fresh := func() string {
		dir := memoryDir(t)
		put(t, dir, map[string]string{"moved": "old", "free": "old"})
		s := scenario{act: func(h *Locked) error {
			step := h.step
			h.step = func(what string) error {
				if strings.HasPrefix(what, "remove ") && strings.HasSuffix(what, "/new") {
					panic(crashed{}) // the step that decides
				}
				return step(what)
			}
			_, err := h.Apply(t.Context(), Change{Verb: "reset", Time: now, Keep: 0, Moves: moves("moved", "free")})
			return err
		}}
		s.run(t, dir, s.act, -1)
		put(t, dir, map[string]string{"moved": "another's"})
		return dir
	}
	steps, _ := scenario{}.run(t, fresh(), nil, -1)
	for k, what := range steps {
		dir := fresh()
		scenario{}.run(t, dir, nil, k)
		unlockDirectory(t, lockDirectory(t, dir))
		all := snapshots(t, dir)
		if len(all) != 1 || len(all[0].Files) != 1 || all[0].Files[0].Name != "moved" || all[0].Manifest == nil {
			t.Errorf("killed before %s, the snapshots are %+v; want one with the old file", what, all)
		}
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

// The folder of a change from a copy or a checkout is not undone or finished. It is kept as a
// snapshot and blocks nothing.
func TestChangeOfAnotherDirectoryIsNotUndone(t *testing.T) {
	const rest = `"keep":0,"restore":"s","back":["YQ=="]}`
	for what, plant := range map[string]func(home string) map[string]string{
		"of another directory": func(string) map[string]string {
			return map[string]string{"CHANGE.json": `{"version":1,"home":"1:1",` + rest}
		},
		"without a home": func(string) map[string]string {
			return map[string]string{"CHANGE.json": `{"version":1,` + rest}
		},
		"of another version": func(home string) map[string]string {
			return map[string]string{"CHANGE.json": `{"version":2,"home":"` + home + `",` + rest}
		},
		"from elsewhere": func(home string) map[string]string {
			return map[string]string{"CHANGE.json": `{"version":1,"home":"` + home + `","keep":0,"restore":"../..","back":["YQ=="]}`}
		},
		"of the lock": func(home string) map[string]string {
			return map[string]string{"CHANGE.json": `{"version":1,"home":"` + home + `","keep":0,"restore":"s","back":["LmxvY2s="]}`}
		},
		"that is a directory": func(string) map[string]string { return map[string]string{"CHANGE.json/x": "x"} },
	} {
		for _, folder := range []string{undecided, decided} {
			t.Run(fmt.Sprint(what, ", decided: ", folder == decided), func(t *testing.T) {
				dir := t.TempDir()
				info, err := os.Stat(dir)
				if err != nil {
					t.Fatal(err)
				}
				// A snapshot that lacks the file a, as if a had come back from it.
				const s = ".archive/s/"
				manifest := `{"version":1,"verb":"reset","time":"2025-01-01T00:00:00Z","files":[{"name":"c","kind":"file"}]}`
				files := map[string]string{"a": "A", folder + "files/b": "B", s + "files/c": "C", s + "MANIFEST.json": manifest}
				if folder == undecided {
					files[folder+"new"] = ""
				}
				for name, content := range plant(identity(info)) {
					files[folder+name] = content
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
				all := snapshots(t, dir)
				if len(all) != 2 || !strings.HasSuffix(all[1].Name, "-unfinished") || len(all[0].Files) != 1 || len(all[1].Files) != 1 {
					t.Errorf("the snapshots are %+v; want the old one with c, and one with b, named -unfinished", all)
				}
			})
		}
	}
}

// A change without its folders is none.
func TestChangeWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "A", undecided: "", decided + "CHANGE.json": "{torn"})
	unlockDirectory(t, lockDirectory(t, dir))
	if s, left := snapshots(t, dir), allNames(t, filepath.Join(dir, ".archive")); len(s) > 0 || len(left) > 1 {
		t.Errorf("the archive has %q; want nothing", left)
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
