package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/repo"
)

func entryPaths(s *repo.Snapshot) []repo.Path {
	var out []repo.Path
	for _, e := range s.Index.Entries {
		out = append(out, e.Path)
	}
	return out
}

func TestStillCurrent(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	for name, move := range map[string]func(){
		"commit":   func() { b.commit("a", "2") },
		"add":      func() { b.write("new", ""); b.git("add", "new") },
		"branch":   func() { b.git("checkout", "-q", "-b", "other") },
		"empty":    func() { b.git("commit", "-q", "--allow-empty", "-m", "x") },
		"detach":   func() { b.git("checkout", "-q", "--detach") },
		"no index": func() { os.Remove(b.path(".git/index")) },
	} {
		r := b.open()
		s, err := r.Snapshot(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := r.StillCurrent(ctx(t), s); !ok || err != nil {
			t.Errorf("before %s, StillCurrent returned %t, %v; want true", name, ok, err)
		}
		move()
		if ok, err := r.StillCurrent(ctx(t), s); ok || err != nil {
			t.Errorf("after %s, StillCurrent returned %t, %v; want false", name, ok, err)
		}
		b.git("reset", "-q")
	}
}

func TestSubmoduleHead(t *testing.T) {
	other := newBox(t)
	first := other.commit("s", "1")
	b := newBox(t)
	b.git("submodule", "--quiet", "add", other.dir, "deep/mod")
	b.git("submodule", "--quiet", "add", other.dir, "away")
	b.commit()
	b.git("config", "submodule.deep/mod.ignore", "all")
	second := b.sub(b.path("deep/mod")).commit("s", "2")
	os.RemoveAll(b.path("away"))
	os.Mkdir(b.path("away"), 0o755)
	for _, unknownLayout := range []bool{false, true} {
		r := b.open()
		r.unknownLayout = unknownLayout
		s, err := r.Snapshot(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		e := entryOf(s.Index, "deep/mod")
		if e.Mode != repo.Gitlink || e.ID != first || s.Index.Submodules[e.Path].Head != second {
			t.Errorf("moved submodule: %+v", e)
		}
		if e := entryOf(s.Index, "away"); e.ID != first || s.Index.Submodules[e.Path] != (repo.Submodule{}) {
			t.Errorf("submodule not checked out: %+v", e)
		}
	}
	// A symbolic link leads out of the work tree; ken does not follow it.
	os.RemoveAll(b.path("away"))
	os.Symlink(other.dir, b.path("away"))
	os.Rename(b.path("deep"), filepath.Join(b.dir, "..", "deep"))
	os.Symlink("../deep", b.path("deep"))
	if heads := b.snapshot().Index.Submodules; len(heads) != 0 {
		t.Errorf("followed a link: %v", heads)
	}
}

func TestAttributedAndDigest(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1", "not.gitattributes", "")
	plain := b.snapshot()
	if plain.Attributed || plain.AttributesDigest != "" {
		t.Errorf("without attributes, the snapshot has Attributed %t and the digest %q; want none", plain.Attributed, plain.AttributesDigest)
	}
	seen := map[string]string{"": "nothing"}
	check := func(name string, digest bool) {
		t.Helper()
		s := b.snapshot()
		if !s.Attributed || (s.AttributesDigest != "") != digest {
			t.Errorf("%s: the snapshot has Attributed %t and the digest %q; want true, and a digest: %t", name, s.Attributed, s.AttributesDigest, digest)
		}
		if digest && seen[s.AttributesDigest] != "" {
			t.Errorf("%s: the digest is that of %s", name, seen[s.AttributesDigest])
		}
		seen[s.AttributesDigest] = name
	}
	b.write(".git/info/attributes", "* text\n")
	check("info", true)
	b.write(".git/info/attributes", "* -text\n")
	check("info, changed", true)
	os.Remove(b.path(".git/info/attributes"))
	b.write(".gitattributes", "* text\n")
	check("untracked", true)
	os.Remove(b.path(".gitattributes"))

	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	at := b.sub(home)
	at.write(".config/git/attributes", "* text\n")
	check("the user's", true)
	os.RemoveAll(filepath.Join(home, ".config"))
	at.write(".gitconfig", "[includeIf \"gitdir:/nowhere/\"]\n\tpath = ~/more\n")
	at.write("more", "[core]\n\tattributesFile = ~/attrs\n")
	if b.snapshot().Attributed {
		t.Error("a named file that does not exist counts")
	}
	at.write("attrs", "* text\n")
	check("the user's, by an include", true)
	os.Remove(filepath.Join(home, ".gitconfig"))

	b.commit("deep/er/.gitattributes", "* text\n")
	check("tracked", false)
}

// Snapshot works while other processes commit, and returns only commits that HEAD had.
func TestSnapshotWhileOthersCommit(t *testing.T) {
	b := newBox(t)
	b.commit("a", "0")
	r := b.open()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 15 {
			os.WriteFile(b.path("a"), []byte{byte('a' + i)}, 0o644)
			b.try("commit", "-q", "-a", "-m", "x")
			b.try("pack-refs", "--all", "--prune")
		}
	}()
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		s, err := r.Snapshot(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		if s.Head.Commit.IsZero() || s.Head.Branch != "refs/heads/main" || len(s.Index.Entries) != 1 {
			t.Fatalf("Snapshot returned %+v; want a commit on main and one index entry", s)
		}
	}
	if s, err := r.Snapshot(ctx(t)); err != nil || s.Head.Commit != b.id("HEAD") || s.Index.Tree != b.id("HEAD^{tree}") {
		t.Errorf("Snapshot returned %+v, %v; want the commit and the tree of HEAD", s, err)
	}
}

// With core.worktree, every method uses that work tree.
func TestWorkTreeElsewhere(t *testing.T) {
	b := newBox(t)
	b.git("config", "core.worktree", "../../other")
	other := b.sub(b.path("../other"))
	other.write("f", "1\r\n")
	other.write("new", "")
	other.write(".gitattributes", "f text ident\n")
	at := []string{"--git-dir", b.path(".git"), "--work-tree", other.dir}
	other.git(append(at, "add", "f", ".gitattributes")...)
	r := b.open()
	if r.Root() != other.dir {
		t.Fatalf("the root is %s; want %s", r.Root(), other.dir)
	}
	for _, r.unknownLayout = range []bool{false, true} {
		s, err := r.Snapshot(ctx(t))
		if err != nil || len(s.Index.Entries) != 2 {
			t.Fatalf("Snapshot returned %+v, %v; want two index entries", s, err)
		}
		if got, err := r.Untracked(ctx(t)); len(got) != 1 || got[0] != "new" || err != nil {
			t.Errorf("Untracked returned %q, %v; want new", got, err)
		}
		if got, err := r.StoredIDs(ctx(t), []repo.Path{"f"}); err != nil || got[0] != s.Index.Entries[1].ID {
			t.Errorf("StoredIDs returned %v, %v; want the id in the index", got, err)
		}
	}
}

func BenchmarkSnapshot100k(b *testing.B) {
	dir := b.TempDir()
	var entries strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&entries, "100644 %040x 0\tstaging/src/component%03d/internal/package%02d/file%06d_test.go\n", i+1, i/1000, i/100%10, i)
	}
	for _, args := range [][]string{{"init", "-q"}, {"update-index", "--index-info"}} {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(entries.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	for b.Loop() {
		r, err := Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Snapshot(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
