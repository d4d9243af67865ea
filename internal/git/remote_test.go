package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/repo"
)

// The remote is origin or the only one, and UserSetting ignores the configuration of the
// repository.
func TestRemoteURLAndUserSetting(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	b := newBox(t)
	b.git("config", "ken.editor", "planted://{path}")
	check := func(want string) {
		t.Helper()
		if got, err := b.open().RemoteURL(t.Context()); err != nil || got != want {
			t.Errorf("the remote is %q, %v; want %q", got, err, want)
		}
	}
	check("")
	b.git("remote", "add", "mine", "git@github.com:me/shop.git")
	check("git@github.com:me/shop.git")
	b.git("remote", "add", "other", "https://example.com/x/y")
	check("")
	b.git("remote", "add", "origin", "short:acme/shop")
	b.git("config", "url.https://github.com/.insteadOf", "short:")
	check("https://github.com/acme/shop")

	setting := func(want string) {
		t.Helper()
		if got, err := b.open().UserSetting(t.Context(), "ken.editor"); err != nil || got != want {
			t.Errorf("the user's ken.editor is %q, %v; want %q", got, err, want)
		}
	}
	setting("")
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[ken]\n\teditor = zed://file/{path}:{line}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	setting("zed://file/{path}:{line}")
}

// A commit that no remote has is replaced by the newest one before it that a remote has.
func TestPushedCommit(t *testing.T) {
	b := newBox(t)
	commit := func(text string) repo.ID {
		t.Helper()
		b.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", text)
		id, err := repo.ParseID(strings.TrimSpace(b.git("rev-parse", "HEAD")))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	check := func(of, want repo.ID) {
		t.Helper()
		if got, err := b.open().PushedCommit(t.Context(), of); err != nil || got != want {
			t.Errorf("the pushed commit of %s is %s, %v; want %s", of, got, err, want)
		}
	}
	first, second, third := commit("one"), commit("two"), commit("three")
	check(third, repo.ID{})
	b.git("update-ref", "refs/remotes/origin/main", second.String())
	check(third, second)
	check(second, second)
	check(first, first)
}
