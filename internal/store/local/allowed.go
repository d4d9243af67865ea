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

// Allowed is what the user has allowed repositories to contact. It lies with the user's own
// state, where no repository can write, a file to a request.
type Allowed struct{ dir string }

// OpenAllowed returns what is kept in the user's directory for state; "" keeps nothing, and
// allows nothing.
func OpenAllowed(stateDir string) Allowed {
	if stateDir == "" {
		return Allowed{}
	}
	return Allowed{filepath.Join(stateDir, "ken", "allowed")}
}

const allowedExt = ".json"

// file names the file of a request by all that it asks for.
func (a Allowed) file(r allow.Request) (name string, content []byte, err error) {
	content, err = json.Marshal(r)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(content)
	return filepath.Join(a.dir, hex.EncodeToString(sum[:])+allowedExt), append(content, '\n'), nil
}

// Has reports whether the user has allowed a request. What cannot be read is not allowed.
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

// List returns what the user has allowed a repository, in no order.
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
			continue // it was withdrawn just now
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

// Remove takes back that a request is allowed.
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
