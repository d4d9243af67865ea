package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
	"ken/internal/git/history"
)

// The history index has two files: the base, and the tail, which names its base. Writers replace a
// file as a whole, by rename. So a reader sees a base with or without its tail, never a part of a
// file. If two processes write, the last one wins; both wrote a correct index.
const (
	baseFile = "base"
	tailFile = "tail"
)

func (r *Repo) historyDir() string { return filepath.Join(r.common, "ken", "cache", "history") }

// loadHistory returns the cached index for a key. It is empty if the cache is missing or invalid.
func (r *Repo) loadHistory(key history.Key) *history.Index {
	base, err := loadFile(filepath.Join(r.historyDir(), baseFile), history.MaxSize)
	if err != nil {
		return &history.Index{}
	}
	tail, err := loadFile(filepath.Join(r.historyDir(), tailFile), history.MaxSize)
	if err != nil {
		tail = nil
	}
	return history.Open(key, r.format, base, tail)
}

// saveHistory writes the file that changed: the tail, or a base without a tail.
func (r *Repo) saveHistory(h *history.Index) error {
	dir := r.historyDir()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	atomicfile.RemoveAbandoned(dir)
	base, tail := h.Files()
	if tail != nil {
		return replaceFile(dir, tailFile, tail)
	}
	if err := replaceFile(dir, baseFile, base); err != nil {
		return err
	}
	// The old tail follows another base.
	if err := os.Remove(filepath.Join(dir, tailFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile replaces a file of the cache. A crash can damage the file; readers detect that and build
// the index again.
func replaceFile(dir, name string, data []byte) error {
	if len(data) > history.MaxSize {
		return fmt.Errorf("%d bytes are too many for the cache", len(data))
	}
	return atomicfile.WriteCache(filepath.Join(dir, name), data)
}
