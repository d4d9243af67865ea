package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/allow"
	"ken/internal/atomicfile"
)

// Allowed stores which requests of repositories the user has allowed, one file for each. It is in the user's state
// directory, where no repository can write.
type Allowed struct{ dir string }

// OpenAllowed returns the allowed requests in the user's state directory; "" allows nothing and stores nothing.
func OpenAllowed(stateDir string) Allowed {
	if stateDir == "" {
		return Allowed{}
	}
	return Allowed{filepath.Join(stateDir, "ken", "allowed")}
}

const allowedExt = ".json"

// file returns the file name of a request, a digest of everything that it asks for.
func (a Allowed) file(r allow.Request) (name string, content []byte, err error) {
	content, err = json.Marshal(r)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(content)
	return filepath.Join(a.dir, hex.EncodeToString(sum[:])+allowedExt), append(content, '\n'), nil
}

// Has reports whether the user has allowed a request. An unreadable file allows nothing.
func (a Allowed) Has(r allow.Request) bool {
	if a.dir == "" {
		return false
	}
	name, _, err := a.file(r)
	if err != nil {
		return false
	}
	kept, err := readAllowed(name)
	return err == nil && kept == r
}

func readAllowed(name string) (r allow.Request, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// Add allows a request.
func (a Allowed) Add(r allow.Request) error {
	if a.dir == "" {
		return errors.New("no state directory to save the permission in: set XDG_STATE_HOME")
	}
	name, content, err := a.file(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return fmt.Errorf("save the permission: %w", err)
	}
	if err := atomicfile.Write(name, content, 0o600); err != nil {
		return fmt.Errorf("save the permission: %w", err)
	}
	return nil
}

// List returns the allowed requests of a repository, unsorted.
func (a Allowed) List(repository string) ([]allow.Request, error) {
	if a.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the permissions: %w", err)
	}
	var list []allow.Request
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), allowedExt) {
			continue
		}
		r, err := readAllowed(filepath.Join(a.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed just now
		}
		if err != nil {
			return nil, fmt.Errorf("read the permissions: %w", err)
		}
		if r.Repository == repository {
			list = append(list, r)
		}
	}
	return list, nil
}

// Remove withdraws the permission for a request.
func (a Allowed) Remove(r allow.Request) error {
	name, _, err := a.file(r)
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("withdraw the permission: %w", err)
	}
	return nil
}
