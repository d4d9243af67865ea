package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
)

// A ShareMemory remembers how far a clone has shared, in a JSON file beside the
// database. The file may be deleted at any time. T is the type of the document.
type ShareMemory[T any] struct{ path string }

// OpenShareMemory returns the memory of the clone with that common git directory.
func OpenShareMemory[T any](common string) ShareMemory[T] {
	return ShareMemory[T]{filepath.Join(common, "ken", "share.json")}
}

// Path returns the name of the file.
func (m ShareMemory[T]) Path() string { return m.path }

// Load returns the saved document, the zero T if there is none or it cannot be read.
func (m ShareMemory[T]) Load() (out T) {
	b, err := os.ReadFile(m.path)
	if err != nil || json.Unmarshal(b, &out) != nil {
		return *new(T)
	}
	return out
}

// Save replaces the file.
func (m ShareMemory[T]) Save(document T) (err error) {
	b, err := json.Marshal(document)
	if err != nil {
		return err
	}
	dir := filepath.Dir(m.path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("save share.json: %w", err)
	}
	if err := atomicfile.WriteCache(m.path, b); err != nil {
		return fmt.Errorf("save share.json: %w", err)
	}
	return nil
}
