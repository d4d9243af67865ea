//go:build unix

package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ken/internal/fault"
)

// otherUser is a user id other than that of the tests.
const otherUser = 41234

// giveAway makes another user the owner of files and directories, but not of the files below them.
func giveAway(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.Lchown(f, otherUser, otherUser); err != nil {
			t.Fatal(err)
		}
	}
}

// Open accepts and refuses the same repositories as git, for all owners and settings.
func TestOwnerCheckMatchesGit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	layouts := map[string]func(b *box) (dir string){
		"own": func(b *box) string { return b.dir },
		"of another user": func(b *box) string {
			giveAway(b.t, b.dir, filepath.Join(b.dir, ".git"))
			return b.dir
		},
		"work tree of another user": func(b *box) string {
			giveAway(b.t, b.dir)
			return b.dir
		},
		"git directory of another user": func(b *box) string {
			giveAway(b.t, filepath.Join(b.dir, ".git"))
			return b.dir
		},
		"only the config of another user": func(b *box) string {
			giveAway(b.t, filepath.Join(b.dir, ".git", "config"))
			return b.dir
		},
		"subdirectory": func(b *box) string {
			giveAway(b.t, b.dir)
			b.mkdir("a/b")
			return filepath.Join(b.dir, "a", "b")
		},
		"own .git link to another user's": func(b *box) string {
			real := filepath.Join(filepath.Dir(b.dir), "real.git")
			b.must(os.Rename(filepath.Join(b.dir, ".git"), real))
			b.must(os.Symlink(real, filepath.Join(b.dir, ".git")))
			giveAway(b.t, real)
			return b.dir
		},
		"another user's .git link": func(b *box) string {
			real := filepath.Join(filepath.Dir(b.dir), "real.git")
			b.must(os.Rename(filepath.Join(b.dir, ".git"), real))
			b.must(os.Symlink(real, filepath.Join(b.dir, ".git")))
			giveAway(b.t, filepath.Join(b.dir, ".git"))
			return b.dir
		},
		"through a link": func(b *box) string {
			giveAway(b.t, b.dir)
			link := filepath.Join(filepath.Dir(b.dir), "link")
			b.must(os.Symlink(b.dir, link))
			return link
		},
		"linked worktree": func(b *box) string {
			return b.linked()
		},
		"linked worktree of another user": func(b *box) string {
			dir := b.linked()
			giveAway(b.t, dir)
			return dir
		},
		"linked worktree with another user's .git file": func(b *box) string {
			dir := b.linked()
			giveAway(b.t, filepath.Join(dir, ".git"))
			return dir
		},
		"linked worktree with another user's git directory": func(b *box) string {
			dir := b.linked()
			giveAway(b.t, filepath.Join(b.dir, ".git", "worktrees", "linked"))
			return dir
		},
		"linked worktree of another user's repository": func(b *box) string {
			dir := b.linked()
			giveAway(b.t, b.dir, filepath.Join(b.dir, ".git"))
			return dir
		},
		"core.worktree": func(b *box) string {
			tree := filepath.Join(filepath.Dir(b.dir), "tree")
			b.must(os.Mkdir(tree, 0o755))
			b.git("config", "core.worktree", tree)
			giveAway(b.t, b.dir)
			return b.dir
		},
		"bare": func(b *box) string {
			return b.bare()
		},
		"bare of another user": func(b *box) string {
			dir := b.bare()
			giveAway(b.t, dir)
			return dir
		},
		"inside a bare one of another user": func(b *box) string {
			dir := b.bare()
			giveAway(b.t, dir)
			return filepath.Join(dir, "refs")
		},
	}
	settings := map[string]func(b *box, dir string){
		"no settings":             func(*box, string) {},
		"exact":                   func(b *box, dir string) { b.safe(realPath(b.t, dir)) },
		"with a slash at its end": func(b *box, dir string) { b.safe(realPath(b.t, dir) + "/") },
		"any":                     func(b *box, _ string) { b.safe("*") },
		"another":                 func(b *box, _ string) { b.safe("/elsewhere") },
		"reset":                   func(b *box, _ string) { b.safe("*", "") },
		"reset and set":           func(b *box, _ string) { b.safe("*", "", "*") },
		"below home":              func(b *box, dir string) { b.safe("~/" + filepath.Base(realPath(b.t, dir))) },
		"all below":               func(b *box, dir string) { b.safe(filepath.Dir(realPath(b.t, dir)) + "/*") },
		"by the repository": func(b *box, _ string) {
			if out, err := b.try("-c", "safe.directory=*", "config", "--local", "--add", "safe.directory", "*"); err != nil {
				b.t.Fatalf("git config failed with %v: %s", err, out)
			}
		},
		"by the command": func(b *box, _ string) {
			b.t.Setenv("GIT_CONFIG_COUNT", "1")
			b.t.Setenv("GIT_CONFIG_KEY_0", "safe.directory")
			b.t.Setenv("GIT_CONFIG_VALUE_0", "*")
		},
		"by a command that runs this one": func(b *box, _ string) { b.t.Setenv("GIT_CONFIG_PARAMETERS", "'safe.directory=*'") },
		"sudo by the owner":               func(b *box, _ string) { b.t.Setenv("SUDO_UID", strconv.Itoa(otherUser)) },
		"sudo by a third":                 func(b *box, _ string) { b.t.Setenv("SUDO_UID", "41235") },
		"sudo by nobody":                  func(b *box, _ string) { b.t.Setenv("SUDO_UID", "") },
		"sudo by nonsense":                func(b *box, _ string) { b.t.Setenv("SUDO_UID", "41234x") },
		"explicit bare":                   func(b *box, _ string) { b.git("config", "--global", "safe.bareRepository", "explicit") },
	}
	every := []string{"of another user", "linked worktree of another user", "bare of another user"}
	for layout, make := range layouts {
		for setting, set := range settings {
			if setting != "no settings" && setting != "any" && !slices.Contains(every, layout) {
				continue
			}
			t.Run(layout+"/"+setting, func(t *testing.T) {
				b := newBox(t)
				t.Setenv("HOME", filepath.Dir(b.dir))
				t.Setenv("XDG_CONFIG_HOME", filepath.Join(filepath.Dir(b.dir), "xdg"))
				b.git("commit", "-q", "--allow-empty", "-m", "first")
				dir := make(b)
				set(b, dir)

				ask := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", "--git-dir")
				said, gitErr := ask.CombinedOutput()
				r, bare, err := OpenAllowBare(t.Context(), dir)
				if inside := strings.HasPrefix(layout, "inside"); inside && gitErr == nil && err != nil {
					// Open refuses it because it has no work tree.
					r, bare, err = OpenAllowBare(t.Context(), filepath.Dir(dir))
				}
				switch {
				case (err == nil) != (gitErr == nil):
					t.Fatalf("git returned %v (%s), and Open returned %v; want the same decision", gitErr, said, err)
				case err == nil:
					// Later calls of git work, too.
					if _, err := r.allConfig(t.Context()); err != nil {
						t.Errorf("bare %v: the first call of git fails: %v", bare, err)
					}
				case strings.Contains(string(said), "dubious ownership"):
					hint := "if you trust it: git config --global --add safe.directory "
					if !strings.HasSuffix(err.Error(), "belongs to another user") || strings.Contains(err.Error(), "rev-parse") || !strings.HasPrefix(fault.HintOf(err), hint) || fault.KindOf(err) != fault.Failed {
						t.Errorf("want %q to say whose it is, with the hint %s…, not %q", err, hint, fault.HintOf(err))
					}
				case !strings.Contains(fault.HintOf(err), "safe.bareRepository"):
					t.Errorf("want a hint with safe.bareRepository for %q, not %q", err, fault.HintOf(err))
				}
			})
		}
	}
}

// Open refuses a repository of another user before it reads the configuration or the store.
func TestConfigOfAnotherUserIsNotRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	for name, of := range map[string]func(b *box) string{
		"with a work tree": func(b *box) string { return b.dir },
		"bare":             (*box).bare,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			dir := of(b)
			config := filepath.Join(dir, "config")
			if name != "bare" {
				config = filepath.Join(dir, ".git", "config")
			}
			b.must(os.Remove(config))
			b.must(os.Mkdir(config, 0o755)) // reading it is an error
			giveAway(t, dir)
			_, _, err := OpenAllowBare(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), "belongs to another user") {
				t.Errorf("want it refused for its owner before its config is read, not: %v", err)
			}
		})
	}
}

// ken does not read submodules and work trees of another user.
func TestPartsOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	b := newBox(t)
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	linked := b.linked()
	sub := filepath.Join(b.dir, "sub")
	b.git("init", "-q", sub)
	b.git("-C", sub, "commit", "-q", "--allow-empty", "-m", "of the submodule")
	b.git("add", "sub")
	giveAway(t, sub, linked)

	r := b.open()
	trees, err := r.Checkouts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(trees) != 2 || trees[0].Err != nil || trees[1].Err == nil || !strings.Contains(trees[1].Err.Error(), "belongs to another user") {
		t.Errorf("want the linked worktree alone refused for its owner: %+v", trees)
	}
	_, there, err := r.submoduleHead(t.Context(), "sub")
	if !there || err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("want the submodule refused for its owner, not: %v", err)
	}
	giveAway(t, b.dir, filepath.Join(b.dir, ".git"))
	if err := os.Chown(linked, 0, 0); err != nil {
		t.Fatal(err)
	}
	r, err = Open(t.Context(), linked)
	if err != nil {
		t.Fatal(err)
	}
	if trees, err = r.Checkouts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(trees) != 2 || trees[1].Err != nil || trees[0].Err == nil || !strings.Contains(trees[0].Err.Error(), "belongs to another user") {
		t.Errorf("want the main work tree alone refused for its owner: %+v", trees)
	}
}

// Without git, Open refuses a repository of another user.
func TestOwnerWithoutGit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	b := newBox(t)
	giveAway(t, b.dir)
	withoutGit(t)
	if _, err := Open(t.Context(), b.dir); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("want an error that git is not installed, not: %v", err)
	}
}

func (b *box) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) mkdir(name string) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Join(b.dir, name), 0o755))
}

// linked adds a worktree and returns its directory.
func (b *box) linked() string {
	b.t.Helper()
	dir := filepath.Join(filepath.Dir(b.dir), "linked")
	b.git("worktree", "add", "-q", "--detach", dir)
	return dir
}

// bare makes a bare repository and returns its directory.
func (b *box) bare() string {
	b.t.Helper()
	dir := filepath.Join(filepath.Dir(b.dir), "bare.git")
	b.git("init", "-q", "--bare", dir)
	return dir
}

// safe sets safe.directory.
func (b *box) safe(list ...string) {
	b.t.Helper()
	for _, dir := range list {
		b.git("config", "--global", "--add", "safe.directory", dir)
	}
}

func realPath(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
