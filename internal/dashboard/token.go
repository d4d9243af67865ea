package dashboard

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

// Token returns the token of a repository's dashboard. It makes a new one if fresh
// is set or the file is missing, invalid or readable by others.
func Token(common string, fresh bool) (string, error) {
	dir := filepath.Join(common, "ken")
	name := filepath.Join(dir, tokenFile)
	if !fresh {
		token, err := readToken(name)
		if err != nil || token != "" {
			return token, err
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

// readToken returns the token in a file, and "" if the file is missing, invalid or
// readable by others.
func readToken(name string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	// Windows has no such modes; directories of a user are private there.
	private := info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows"
	if len(token) < 20 || !private {
		return "", nil
	}
	return token, nil
}

// storedToken returns the token of a repository, and "" if there is none that ken serve
// would use.
func storedToken(common string) string {
	token, _ := readToken(filepath.Join(common, "ken", tokenFile))
	return token
}

func keepToken(dir, name, token string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(name, []byte(token+"\n"), 0o600)
}

// tokenFile is the name of the token file in ken's directory.
const tokenFile = "serve.token"
