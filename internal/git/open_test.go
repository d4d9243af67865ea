package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ken/internal/fault"
)

func TestOpenMatchesGit(t *testing.T) {
	for name, build := range map[string]func(b *box) (dir string){
		"root":         func(b *box) string { return b.dir },
		"subdirectory": func(b *box) string { b.write("x/y/z", ""); return b.path("x/y") },
		"through a symlink": func(b *box) string {
			b.write("x/y/z", "")
			os.Symlink(b.path("x"), b.path("../alias"))
			return b.path("../alias/y")
		},
		"linked worktree": func(b *box) string {
			b.commit("a/b", "")
			b.git("worktree", "add", "-q", "../linked")
			return b.path("../linked/a")
		},
		"linked worktree of a bare repository": func(b *box) string {
			b.commit("a/b", "")
			b.git("clone", "-q", "--bare", ".", "../bare.git")
			b.git("-C", "../bare.git", "worktree", "add", "-q", "../linked")
			return b.path("../linked")
		},
		"separate git directory": func(b *box) string {
			b.git("init", "-q", "--separate-git-dir", "../elsewhere")
			return b.dir
		},
		"submodule": func(b *box) string {
			other := newBox(b.t)
			other.commit("s", "1")
			b.git("submodule", "--quiet", "add", other.dir, "mod")
			return b.path("mod")
		},
		"an empty .git is no repository": func(b *box) string {
			b.write("inner/.git/nothing", "")
			return b.path("inner")
		},
		"a broken HEAD is no repository": func(b *box) string {
			b.write("inner/.git/HEAD", "garbage")
			os.MkdirAll(b.path("inner/.git/objects"), 0o755)
			os.MkdirAll(b.path("inner/.git/refs"), 0o755)
			return b.path("inner")
		},
		"core.worktree": func(b *box) string {
			b.write("../other/f", "")
			b.git("config", "core.worktree", "../../other")
			return b.dir
		},
		"worktree config": func(b *box) string {
			b.commit("a", "")
			b.git("config", "extensions.worktreeConfig", "true")
			b.git("worktree", "add", "-q", "../linked")
			return b.path("../linked")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			dir := build(b)
			at := b.sub(dir)
			want := map[string]string{
				"root":   at.git("rev-parse", "--show-toplevel"),
				"git":    at.git("rev-parse", "--absolute-git-dir"),
				"common": at.git("rev-parse", "--path-format=absolute", "--git-common-dir"),
				"prefix": strings.TrimSuffix(at.git("rev-parse", "--show-prefix"), "/"),
			}
			if name != "core.worktree" {
				withoutGit(t)
			}
			r, err := Open(ctx(t), dir)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{
				"root": r.Root(), "git": r.GitDir(), "common": r.CommonDir(), "prefix": string(r.Prefix()),
			}
			for k, w := range want {
				if k != "prefix" {
					w, _ = filepath.EvalSymlinks(w)
				}
				if got[k] != w {
					t.Errorf("%s is %q, git says %q", k, got[k], w)
				}
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		build func(b *box) (dir string)
		kind  fault.Kind
		err   string
		hint  string
	}{
		"no repository": {
			func(b *box) string { os.RemoveAll(b.path(".git")); return b.dir },
			fault.NoRepo, "not a git repository: ", "run ken inside a repository, or: ken -C DIR …",
		},
		"no directory": {
			func(b *box) string { return b.path("absent") },
			fault.Usage, "absent: no such file or directory", "",
		},
		"a file": {
			func(b *box) string { b.write("f", ""); return b.path("f") },
			fault.Usage, "not a directory", "name its directory",
		},
		"bare": {
			func(b *box) string {
				b.git("clone", "-q", "--bare", ".", "../bare.git")
				return b.path("../bare.git/objects")
			},
			fault.Failed, "bare.git is a bare repository", "worktree add",
		},
		"core.bare": {
			func(b *box) string { b.git("config", "core.bare", "true"); return b.dir },
			fault.Failed, "is a bare repository", "worktree add",
		},
		"inside the git directory": {
			func(b *box) string { return b.path(".git/objects") },
			fault.Failed, "is inside the git directory", "ken -C ",
		},
		"a pointer to nowhere": {
			func(b *box) string { os.RemoveAll(b.path(".git")); b.write(".git", "gitdir: ../gone\n"); return b.dir },
			fault.Failed, "gone, which is not a git directory", "git worktree repair",
		},
		"a pointer that is none": {
			func(b *box) string { os.RemoveAll(b.path(".git")); b.write(".git", "hello\n"); return b.dir },
			fault.Failed, ".git: it does not name a git directory", "cat ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			_, err := Open(ctx(t), c.build(b))
			if err == nil || !strings.Contains(err.Error(), c.err) || fault.KindOf(err) != c.kind || !strings.Contains(fault.HintOf(err), c.hint) {
				t.Errorf("error %v of kind %d, hint %q", err, fault.KindOf(err), fault.HintOf(err))
			}
		})
	}
}

func TestOpenCancelled(t *testing.T) {
	c, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(c, t.TempDir()); fault.KindOf(err) != fault.Interrupted {
		t.Errorf("Open with a cancelled context returned the error %v; want an interruption", err)
	}
}

func TestWorktrees(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.git("worktree", "add", "-q", "../zwei")
	b.git("worktree", "add", "-q", "../eins")
	got, err := b.open().Worktrees()
	if err != nil || !slices.Equal(got, []string{"", "eins", "zwei"}) {
		t.Errorf("Worktrees returned %q, %v; want the main one, eins and zwei", got, err)
	}
	r := b.sub(b.path("../eins")).open()
	if r.Worktree() != "eins" || b.open().Worktree() != "" {
		t.Errorf("worktree %q and %q", r.Worktree(), b.open().Worktree())
	}
	b.git("worktree", "remove", "../zwei")
	if got, err = r.Worktrees(); err != nil || !slices.Equal(got, []string{"", "eins"}) {
		t.Errorf("Worktrees returned %q, %v; want the main one and eins", got, err)
	}
}

// Author returns the same author as git.
func TestAuthor(t *testing.T) {
	for _, v := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "EMAIL"} {
		t.Setenv(v, "")
	}
	b := newBox(t)
	if got, err := b.open().Author(ctx(t)); got != "" || err != nil {
		t.Errorf("Author returned %q, %v; want nothing", got, err)
	}
	b.git("config", "user.name", "Ann")
	b.git("config", "user.email", "ann@example.com")
	if got, err := b.open().Author(ctx(t)); got != "Ann <ann@example.com>" || err != nil {
		t.Errorf("Author returned %q, %v; want Ann <ann@example.com>", got, err)
	}
	b.git("config", "author.name", "Anna")
	for _, c := range []struct{ variable, value, want string }{
		{"EMAIL", "no@example.com", "Anna <ann@example.com>"},
		{"GIT_AUTHOR_EMAIL", " <bob@example.com>", "Anna <bob@example.com>"},
		{"GIT_AUTHOR_NAME", "Bob\n", "Bob <bob@example.com>"},
	} {
		t.Setenv(c.variable, c.value)
		if got, err := b.open().Author(ctx(t)); got != c.want || err != nil {
			t.Errorf("with %s: %q, %v, want %q", c.variable, got, err, c.want)
		}
	}
	t.Setenv("PATH", "")
	if got, err := (&Repo{}).Author(ctx(t)); got != "Bob <bob@example.com>" || err != nil {
		t.Errorf("without a git: %q, %v", got, err)
	}
}
