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

// serveToken returns the token of a repository's dashboard. It makes a new one if fresh
// is set or the file is missing, invalid or readable by others.
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
			// Windows has no such modes; directories of a user are private there.
			if len(token) >= 20 && (info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows") {
				return token, nil
			} // readable by others, or invalid
		}
	}
	token := rand.Text()
	err := keepToken(dir, name, token)
	if !fresh && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return token, nil // valid until the server stops
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

// tokenFile is the name of the token file in ken's directory.
const tokenFile = "serve.token"
