package git

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// listed returns the entries of the index as git lists them, with stats. Git does not print whether an entry is racy.
func (b *box) listed() []repo.Entry {
	b.t.Helper()
	out, err := b.try("ls-files", "-z", "--stage", "-v", "--debug")
	if err != nil {
		b.t.Fatal(err)
	}
	var entries []repo.Entry
	for out != "" {
		item, rest, _ := strings.Cut(out, "\x00")
		e, stage := b.listedEntry(item)
		lines := strings.SplitN(rest, "\n", 6)
		var sec, ns int64
		fmt.Sscanf(lines[0], "  ctime: %d:%d", &sec, &ns)
		e.Stat.Ctime = sec*1e9 + ns
		fmt.Sscanf(lines[1], "  mtime: %d:%d", &sec, &ns)
		e.Stat.Mtime = sec*1e9 + ns
		var dev int64
		fmt.Sscanf(lines[2], "  dev: %d\tino: %d", &dev, &e.Stat.Inode)
		var flags string
		fmt.Sscanf(lines[4], "  size: %d\tflags: %s", &e.Stat.Size, &flags)
		if bits, _ := strconv.ParseUint(flags, 16, 64); bits&(1<<29) != 0 {
			e.Flags |= repo.IntentToAdd
		}
		out = lines[5]
		if stage > 0 {
			e.Stat = repo.Stat{}
			if n := len(entries); n > 0 && entries[n-1].Path == e.Path {
				if stage == 2 {
					entries[n-1].Mode = e.Mode
				}
				continue
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// listedEntry parses the line of ls-files before the stat.
func (b *box) listedEntry(item string) (e repo.Entry, stage int) {
	b.t.Helper()
	fields, path, _ := strings.Cut(item, "\t")
	var tag, id string
	var mode uint32
	if _, err := fmt.Sscanf(fields, "%s %o %s %d", &tag, &mode, &id, &stage); err != nil {
		b.t.Fatalf("git ls-files printed %q: %v", item, err)
	}
	e = repo.Entry{Path: repo.Path(path), Mode: repo.Mode(mode)}
	if strings.ToLower(tag) == tag {
		e.Flags |= repo.AssumeUnchanged
	}
	if strings.EqualFold(tag, "S") {
		e.Flags |= repo.SkipWorktree
	}
	if stage > 0 {
		e.Flags |= repo.Conflicted
		return e, stage
	}
	var err error
	if e.ID, err = repo.ParseID(id); err != nil {
		b.t.Fatalf("git ls-files printed %q: %v", item, err)
	}
	return e, stage
}

func (b *box) compareIndex(idx repo.Index) {
	b.t.Helper()
	want := b.listed()
	if len(want) != len(idx.Entries) {
		b.t.Fatalf("the index has %d entries, git lists %d", len(idx.Entries), len(want))
	}
	for i, e := range idx.Entries {
		e.Flags &^= repo.Racy
		if e != want[i] {
			b.t.Errorf("entry %d is\n%+v, git lists\n%+v", i, e, want[i])
		}
	}
	if tree, err := b.try("write-tree", "--missing-ok"); err == nil && !idx.Tree.IsZero() && idx.Tree.String() != strings.TrimSpace(tree) {
		b.t.Errorf("tree %s, git writes %s", idx.Tree, tree)
	}
}

// fill adds files and index entries of every kind.
func (b *box) fill() {
	b.t.Helper()
	b.commit("a.txt", "a\n", "b/c/d.txt", "d\n", "b/c/e.txt", "e\n", "b.txt", "b\n", "both", "base\n",
		"new\nline", "x", "quo\"te", "x", "non-utf8-\xff\xfe", "x", "CASE", "1", "case", "2",
		"long/"+strings.Repeat("n", 200)+"/"+strings.Repeat("m", 250), "deep", ".github/x", "", "empty", "")
	b.write("tool.sh", "#!/bin/sh\n")
	os.Chmod(b.path("tool.sh"), 0o755)
	os.Symlink("a.txt", b.path("link"))
	b.commit()
	b.git("checkout", "-q", "-b", "side")
	b.commit("both", "side\n")
	b.git("checkout", "-q", "main")
	b.commit("both", "main\n")
	b.try("merge", "-q", "side")
	b.write("intended", "later\n")
	b.git("add", "-N", "intended")
	b.git("update-index", "--assume-unchanged", "b.txt")
	b.git("update-index", "--skip-worktree", "b/c/d.txt")
	b.git("update-index", "--skip-worktree", "b/c/e.txt")
	b.git("update-index", "--assume-unchanged", "b/c/e.txt")
}

func TestIndexMatchesGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+"/v"+version, func(t *testing.T) {
				b := newBox(t, "--object-format="+format)
				b.fill()
				b.git("update-index", "--index-version", version)
				r := b.open()
				withGit := os.Getenv("PATH")
				withoutGit(t)
				s, err := r.Snapshot(ctx(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", withGit)
				b.compareIndex(s.Index)
			})
		}
	}
}

func TestIndexTree(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1", "d/b", "2")
	if got, want := b.snapshot().Index.Tree, b.id("HEAD^{tree}"); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	b.write("a", "other")
	b.git("add", "a")
	if got := b.snapshot().Index.Tree; !got.IsZero() {
		t.Errorf("after add: tree %s, want none", got)
	}
}

// Entries of an unusual layout are the same as those that git lists.
func TestUnusualIndexIsReadByGit(t *testing.T) {
	for name, make := range map[string]func(b *box){
		"split": func(b *box) { b.git("update-index", "--split-index"); b.write("more", "1"); b.git("add", "more") },
		"split, replaced": func(b *box) {
			b.git("update-index", "--split-index")
			b.write("a.txt", "replaced")
			b.git("add", "a.txt")
		},
		"split, v4": func(b *box) {
			b.git("update-index", "--index-version", "4")
			b.git("update-index", "--split-index")
		},
		"unknown layout": func(b *box) { b.git("config", "core.repositoryformatversion", "0") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.fill()
			make(b)
			r := b.open()
			if name == "unknown layout" {
				r.unknownLayout = true
			}
			s, err := r.Snapshot(ctx(t))
			if err != nil {
				t.Fatal(err)
			}
			want := b.listed()
			if len(want) != len(s.Index.Entries) {
				t.Fatalf("the index has %d entries, git lists %d", len(s.Index.Entries), len(want))
			}
			for i, e := range s.Index.Entries {
				e.Flags &^= repo.Racy
				if e != want[i] {
					t.Errorf("entry %d is\n%+v, git lists\n%+v", i, e, want[i])
				}
			}
			if ok, err := r.StillCurrent(ctx(t), s); !ok || err != nil {
				t.Errorf("StillCurrent returned %v, %v; want true", ok, err)
			}
		})
	}
}

func TestSparseIndexIsExpanded(t *testing.T) {
	b := newBox(t)
	b.commit("in/a", "1", "out/x/b", "2", "out/x/c", "3", "top", "4")
	b.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
	if !strings.Contains(b.git("ls-files", "--sparse"), "out/\n") {
		t.Fatal("this test needs git 2.34 or newer for sparse indexes")
	}
	b.write("in/a", "edited")
	got := map[repo.Path]repo.Flags{}
	for _, e := range b.snapshot().Index.Entries {
		got[e.Path] = e.Flags &^ repo.Racy
	}
	want := map[repo.Path]repo.Flags{"in/a": 0, "out/x/b": repo.SkipWorktree, "out/x/c": repo.SkipWorktree, "top": 0}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestIndexAbsentIsEmpty(t *testing.T) {
	b := newBox(t)
	r := b.open()
	s, err := r.Snapshot(ctx(t))
	if err != nil || len(s.Index.Entries) != 0 || !s.Index.Checksum.IsZero() {
		t.Fatalf("Snapshot returned %+v, %v; want an empty index", s, err)
	}
	if ok, err := r.StillCurrent(ctx(t), s); !ok || err != nil {
		t.Errorf("StillCurrent returned %v, %v; want true", ok, err)
	}
	b.write("a", "")
	b.git("add", "a")
	if ok, err := r.StillCurrent(ctx(t), s); ok || err != nil {
		t.Errorf("StillCurrent returned %v, %v after git add; want false", ok, err)
	}
}

func TestIndexWithoutChecksum(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	file := b.path(".git/index")
	buf, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clear(buf[len(buf)-20:]) // as index.skipHash would write it
	if err := os.WriteFile(file, buf, 0o644); err != nil {
		t.Fatal(err)
	}
	r := b.open()
	s, err := r.Snapshot(ctx(t))
	if err != nil || len(s.Index.Entries) != 1 || !s.Index.Checksum.IsZero() {
		t.Fatalf("Snapshot returned %+v, %v; want one entry and no checksum", s, err)
	}
	if ok, err := r.StillCurrent(ctx(t), s); !ok || err != nil {
		t.Errorf("StillCurrent returned %v, %v; want true", ok, err)
	}
	if err := os.WriteFile(file, append(buf[:0:0], buf...), 0o644); err != nil {
		t.Fatal(err)
	}
	os.Chtimes(file, time.Time{}, time.Now().Add(time.Second))
	if ok, err := r.StillCurrent(ctx(t), s); ok || err != nil {
		t.Errorf("StillCurrent returned %v, %v after a write; want false", ok, err)
	}
}

func TestCorruptIndexIsAnError(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1", "b", "2")
	file := b.path(".git/index")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func([]byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"cut":            func(p []byte) []byte { return p[:len(p)/2] },
		"flipped":        func(p []byte) []byte { p[40] ^= 1; return p },
		"other checksum": func(p []byte) []byte { p[len(p)-1] ^= 1; return p },
		"text":           func([]byte) []byte { return []byte(strings.Repeat("no index at all ", 10)) },
		"too many":       func(p []byte) []byte { p[8] = 0xff; return resum(p) },
		"cut, resummed":  func(p []byte) []byte { return resum(p[:100]) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, spoil(slices.Clone(good)), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := b.open().Snapshot(ctx(t))
			if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(fault.HintOf(err), "git -C "+b.dir+" reset") {
				t.Errorf("the error %v should name the file, its hint %q should be git reset", err, fault.HintOf(err))
			}
		})
	}
}

// resum replaces the checksum at the end of p by the right one.
func resum(p []byte) []byte {
	sum := sha1.Sum(p[:len(p)-20])
	copy(p[len(p)-20:], sum[:])
	return p
}

func TestFreshEntryIsRacyAndOldIsNot(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.age()
	if f := b.snapshot().Index.Entries[0].Flags; f.Has(repo.Racy) {
		t.Error("an old entry is racy")
	}
	b.write("a", "2")
	// The file gets a time in the future, so that git writes the index before it.
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(b.dir, "a"), later, later); err != nil {
		t.Fatal(err)
	}
	b.git("add", "a")
	if f := b.snapshot().Index.Entries[0].Flags; !f.Has(repo.Racy) {
		t.Error("an entry with the time of the index, or later, is not racy")
	}
}

// entryOf returns the entry of a path, or a zero entry.
func entryOf(idx repo.Index, path repo.Path) repo.Entry {
	i, ok := repo.FindEntry(idx.Entries, path)
	if !ok {
		return repo.Entry{}
	}
	return idx.Entries[i]
}
