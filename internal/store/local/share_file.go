package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
)

// A ShareFile says how far a clone has read the shared records of remotes. It is a JSON file beside the database, which
// may be deleted at any time.
type ShareFile struct{ path string }

// OpenShareFile returns the file of the clone whose worktrees share a git directory. It touches no file.
func OpenShareFile(commonDir string) ShareFile {
	return ShareFile{filepath.Join(commonDir, "ken", "share.json")}
}

// Path returns the name of the file.
func (f ShareFile) Path() string { return f.path }

// Load decodes the file. It returns false if there is none, or if it cannot be read.
func (f ShareFile) Load(document any) bool {
	b, err := os.ReadFile(f.path)
	return err == nil && json.Unmarshal(b, document) == nil
}

// Save replaces the file.
func (f ShareFile) Save(document any) error {
	b, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return fmt.Errorf("save share.json: %w", err)
	}
	if err := atomicfile.WriteCache(f.path, b); err != nil {
		return fmt.Errorf("save share.json: %w", err)
	}
	return nil
}

// Remove removes the file, so that the next pull reads all records again.
func (f ShareFile) Remove() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove share.json: %w", err)
	}
	return nil
}
