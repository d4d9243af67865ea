package permission

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

	"ken/internal/atomicfile"
)

// dir returns the directory with a file for each request that the user has allowed.
func (c Checker) dir() string { return filepath.Join(c.StateDir, "ken", "allowed") }

const storedExt = ".json"

// file returns the file of a request. Its name is a digest of everything that the request asks for.
func (c Checker) file(r Request) (name string, content []byte) {
	content, err := json.Marshal(r)
	if err != nil {
		panic(err) // plain data always encodes
	}
	sum := sha256.Sum256(content)
	return filepath.Join(c.dir(), hex.EncodeToString(sum[:])+storedExt), append(content, '\n')
}

// has reports whether the user has allowed a request. An unreadable file allows nothing.
func (c Checker) has(r Request) bool {
	if c.StateDir == "" {
		return false
	}
	name, _ := c.file(r)
	kept, err := readStored(name)
	return err == nil && kept == r
}

func readStored(name string) (r Request, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// add allows a request.
func (c Checker) add(r Request) error {
	if c.StateDir == "" {
		return errors.New("no state directory to save the permission in: set XDG_STATE_HOME")
	}
	name, content := c.file(r)
	if err := os.MkdirAll(c.dir(), 0o700); err != nil {
		return fmt.Errorf("save the permission: %w", err)
	}
	if err := atomicfile.Write(name, content, 0o600); err != nil {
		return fmt.Errorf("save the permission: %w", err)
	}
	return nil
}

// list returns the allowed requests of the repository, unsorted.
func (c Checker) list() ([]Request, error) {
	if c.StateDir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(c.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the permissions: %w", err)
	}
	var list []Request
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), storedExt) {
			continue
		}
		r, err := readStored(filepath.Join(c.dir(), e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed just now
		}
		if err != nil {
			return nil, fmt.Errorf("read the permissions: %w", err)
		}
		if r.Repository == c.Repository {
			list = append(list, r)
		}
	}
	return list, nil
}

// remove withdraws the permission for a request.
func (c Checker) remove(r Request) error {
	name, _ := c.file(r)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("withdraw the permission: %w", err)
	}
	return nil
}
