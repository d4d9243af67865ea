package dashboard

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Only the user can read the token. It stays the same until the user asks for a new one.
func TestServeToken(t *testing.T) {
	dir := t.TempDir()
	first, err := Token(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "ken", tokenFile)
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("Stat of the token file returned %v, %v; want the mode 0600", info, err)
	}
	if again, err := Token(dir, false); err != nil || again != first {
		t.Errorf("%q, %v; before it was %q", again, err, first)
	}
	other, err := Token(dir, true)
	if err != nil || other == first {
		t.Errorf("a new token is %q, %v", other, err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
		if again, err := Token(dir, false); err != nil || again == other {
			t.Errorf("a token that others could read is still used: %v", err)
		}
		secret := filepath.Join(t.TempDir(), "secret")
		err := errors.Join(os.WriteFile(secret, []byte("something that is no token"), 0o600), os.Remove(name), os.Symlink(secret, name))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Token(dir, false); err != nil || again == "something that is no token" {
			t.Errorf("the target of a symbolic link was used as the token: %v", err)
		}
	}
}
