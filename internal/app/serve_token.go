package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"ken/internal/atomicfile"
)

// serveToken returns the token of a repository's dashboard, which stays the same until
// another is asked for.
func serveToken(common string, fresh bool) (string, error) {
	dir := filepath.Join(common, "ken")
	name := filepath.Join(dir, tokenFile)
	if !fresh {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			b, err := os.ReadFile(name)
			if err != nil {
				return "", fmt.Errorf("read the token: %w", err)
			}
			token := strings.TrimSpace(string(b))
			// Windows has no such modes; what is below a user's own folders is theirs.
			if len(token) >= 20 && (info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows") {
				return token, nil
			} // others may have read it, or it is none
		}
	}
	token := rand.Text()
	err := keepToken(dir, name, token)
	if !fresh && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return token, nil // it holds for as long as this server runs
	}
	if err != nil {
		return "", fmt.Errorf("save the token: %w", err)
	}
	return token, nil
}

func keepToken(dir, name, token string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(name, []byte(token+"\n"), 0o600)
}

// tokenFile is where the token lies, in ken's folder.
const tokenFile = "serve.token"
