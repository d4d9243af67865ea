package workspace

import (
	"bytes"
	"context"

	"ken/internal/repo"
)

// OnDisk reports whether the work tree has something at a path, tracked or not.
func (w *Workspace) OnDisk(ctx context.Context, p repo.Path) bool {
	if w.Bare {
		return false
	}
	found, err := w.Files.Stat(ctx, []repo.Entry{{Path: p}})
	return err == nil && found[0].Presence != repo.Absent
}

// ReadFile returns the current content of a file of the work tree, nil if it cannot be read or has more than limit
// bytes.
func (w *Workspace) ReadFile(ctx context.Context, p repo.Path, limit int64) (content []byte) {
	err := w.Files.Bytes(ctx, []repo.Path{p}, limit, func(_ int, b []byte, err error) {
		if err == nil {
			content = append([]byte{}, b...)
		}
	})
	if err != nil {
		return nil
	}
	return content
}

// BytesOfBlob returns the bytes that git stores under id if content is a file with that id: content itself, or content
// with Unix line ends. It returns nil for any other file.
func (w *Workspace) BytesOfBlob(content []byte, id repo.ID) []byte {
	if w.Git.ObjectFormat().Blob(content) == id {
		return append([]byte{}, content...)
	}
	if unix := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")); w.Git.ObjectFormat().Blob(unix) == id {
		return unix
	}
	return nil
}
