package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ken/internal/atomicfile"
	"ken/internal/git/history"
)

// The index lies in two files, each of them one segment: the base, and the tail that
// names the base it follows. Both are replaced whole, by rename. So a reader meets a
// base with or without what follows it, never half of either; and of two writers the
// last one wins, with what is correct as well.
const (
	baseFile = "base"
	tailFile = "tail"
)

func (r *Repo) historyDir() string { return filepath.Join(r.common, "ken", "cache", "history") }

// loadHistory returns what the cache holds for a key. Whatever is wrong with it, it
// holds nothing.
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

// saveHistory writes what changed: the tail alone, or a base that stands alone.
func (r *Repo) saveHistory(h *history.Index) error {
	dir := r.historyDir()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	sweep(dir)
	base, tail := h.Files()
	if tail != nil {
		return replaceFile(dir, tailFile, tail)
	}
	if err := replaceFile(dir, baseFile, base); err != nil {
		return err
	}
	// It follows another base, and would only be read in vain.
	if err := os.Remove(filepath.Join(dir, tailFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile replaces a file of the cache. A crash may damage it; readers
// recognise that and make it again.
func replaceFile(dir, name string, data []byte) error {
	if len(data) > history.MaxSize {
		return fmt.Errorf("%d bytes are more than is kept", len(data))
	}
	return atomicfile.WriteCache(filepath.Join(dir, name), data)
}

// sweep removes what writers that died have left.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), atomicfile.Suffix) && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, e.Name())) // there is always another time
		}
	}
}
