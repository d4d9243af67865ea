package git

import (
	"os"
	"strings"
	"testing"

	"ken/internal/repo"
)

func TestHead(t *testing.T) {
	for name, c := range map[string]struct {
		build  func(b *box)
		branch string
		asks   bool // only git can tell
	}{
		"branch":        {func(b *box) { b.commit("a", "1") }, "refs/heads/main", false},
		"unborn":        {func(*box) {}, "refs/heads/main", false},
		"detached":      {func(b *box) { b.commit("a", "1"); b.git("checkout", "-q", "--detach") }, "", false},
		"packed":        {func(b *box) { b.commit("a", "1"); b.git("pack-refs", "--all", "--prune") }, "refs/heads/main", false},
		"slashes":       {func(b *box) { b.commit("a", "1"); b.git("checkout", "-q", "-b", "a/b/c") }, "refs/heads/a/b/c", false},
		"packed, moved": {func(b *box) { b.commit("a", "1"); b.git("pack-refs", "--all"); b.commit("a", "2") }, "refs/heads/main", false},
		"a chain": {func(b *box) {
			b.commit("a", "1")
			b.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
			b.git("symbolic-ref", "HEAD", "refs/heads/alias")
		}, "refs/heads/main", false},
		"a symlink": {func(b *box) {
			b.commit("a", "1")
			os.Remove(b.path(".git/HEAD"))
			os.Symlink("refs/heads/main", b.path(".git/HEAD"))
		}, "refs/heads/main", true},
		"a directory where the ref would be": {func(b *box) {
			b.commit("a", "1")
			b.git("pack-refs", "--all", "--prune")
			os.MkdirAll(b.path(".git/refs/heads/main"), 0o755)
		}, "refs/heads/main", false},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				b := newBox(t, "--object-format="+format)
				c.build(b)
				want := repo.Head{Branch: c.branch}
				if out, err := b.try("rev-parse", "--verify", "-q", "HEAD"); err == nil {
					want.Commit, _ = repo.ParseID(strings.TrimSpace(out))
				}
				unknownLayout := b.open()
				unknownLayout.unknownLayout = true
				if got, err := unknownLayout.Head(ctx(t)); got != want || err != nil {
					t.Errorf("by git: %+v, %v; want %+v", got, err, want)
				}
				r := b.open()
				if !c.asks {
					withoutGit(t)
				}
				if got, err := r.Head(ctx(t)); got != want || err != nil {
					t.Errorf("Head returned %+v, %v; want %+v", got, err, want)
				}
			})
		}
	}
}

func TestHeadOfEachWorktree(t *testing.T) {
	b := newBox(t)
	first := b.commit("a", "1")
	b.git("worktree", "add", "-q", "../linked")
	second := b.commit("a", "2")
	linked := b.sub(b.path("../linked"))
	withoutGit(t)
	if got, err := b.open().Head(ctx(t)); got != (repo.Head{Commit: second, Branch: "refs/heads/main"}) || err != nil {
		t.Errorf("Head of the main worktree returned %+v, %v; want %s on main", got, err, second)
	}
	if got, err := linked.open().Head(ctx(t)); got != (repo.Head{Commit: first, Branch: "refs/heads/linked"}) || err != nil {
		t.Errorf("Head of the linked worktree returned %+v, %v; want %s on linked", got, err, first)
	}
}

// An unreadable ref is an error, not a branch without commits.
func TestBrokenHeadIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"garbage": "garbage\n", "empty": "", "zeros": strings.Repeat("0", 40) + "\n", "short": "abc123\n",
		"a loop": "ref: refs/heads/main\n", "out of refs": "ref: ../../../etc/passwd\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.commit("a", "1")
			b.write(".git/refs/heads/main", text)
			if got, err := b.open().Head(ctx(t)); err == nil {
				t.Errorf("Head returned %+v; want an error", got)
			}
			if got, err := b.open().Snapshot(ctx(t)); err == nil {
				t.Errorf("Snapshot returned %+v; want an error", got)
			}
		})
	}
}

func TestReftableIsReadByGit(t *testing.T) {
	b := newBox(t)
	want := repo.Head{Commit: b.commit("a", "1"), Branch: "refs/heads/main"}
	// Change the config by hand, since this version of git may not support reftable.
	b.write(".git/HEAD", "ref: refs/heads/.invalid\n")
	b.git("config", "core.repositoryformatversion", "1")
	config, _ := os.ReadFile(b.path(".git/config"))
	b.write(".git/config", string(config)+"[extensions]\n\trefStorage = reftable\n")
	fakeGit(t, `case "$*" in
*symbolic-ref*) echo refs/heads/main;;
*rev-parse*) echo `+want.Commit.String()+`;;
*) exit 99;;
esac`)
	if got, err := b.open().Head(ctx(t)); got != want || err != nil {
		t.Errorf("Head returned %+v, %v; want %+v", got, err, want)
	}
}

func TestUnknownExtensionIsAnErrorOfGit(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.git("config", "core.repositoryformatversion", "1")
	b.git("config", "extensions.ofNextYear", "true")
	if s, err := b.open().Snapshot(ctx(t)); err == nil || !strings.Contains(err.Error(), "ofnextyear") {
		t.Errorf("Snapshot returned %+v, %v; want an error about the extension", s, err)
	}
}

func TestFindPacked(t *testing.T) {
	id := strings.Repeat("1", 40)
	other := strings.Repeat("2", 40)
	text := "# pack-refs with: peeled fully-peeled sorted \n" + other + " refs/heads/mainline\n" +
		id + " refs/heads/main\n^" + other + "\n" + other + " refs/tags/x refs/heads/odd\n" + id + " refs/tags/last"
	for name, want := range map[string]string{
		"refs/heads/main": id, "refs/heads/mainline": other, "refs/heads/mai": "", "refs/heads/odd": "",
		"refs/tags/last": id, "peeled": "",
	} {
		got, err := findPacked(text, name, repo.SHA1)
		if got.String() != want || (err == nil) != (want != "") {
			t.Errorf("findPacked(%q) returned %s, %v; want %s", name, got, err, want)
		}
	}
}

func FuzzPackedRefs(f *testing.F) {
	f.Add("# pack-refs with: peeled\n1111111111111111111111111111111111111111 refs/heads/main\n", "refs/heads/main")
	f.Fuzz(func(t *testing.T, text, name string) {
		if id, err := findPacked(text, name, repo.SHA1); err == nil && id.IsZero() {
			t.Fatal("findPacked found a ref with a zero id")
		}
	})
}

// The file of a valid ref name is below the git directory.
func FuzzValidRef(f *testing.F) {
	for _, s := range []string{"refs/heads/main", "../x", "refs//x", "refs/heads/a..b", "HEAD", "a/.b", "a\\b", "refs/x.lock"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !validRef(name) {
			return
		}
		r := &Repo{gitDir: "/g", common: "/g"}
		if file := r.refFile(name); !strings.HasPrefix(file, "/g/") || strings.Contains(file, "..") {
			t.Fatalf("%q leads to %q", name, file)
		}
	})
}
