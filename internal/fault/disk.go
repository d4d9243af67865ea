package fault

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// DiskHint returns what to do after a full disk, a read-only file system or a missing
// permission, "" after any other failure. The path is the absolute one in err, or else
// the given one.
func DiskHint(err error, path string) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok && filepath.IsAbs(e.Path) {
		path = e.Path
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on the disk, then run the command again; show the free space with: df -h " + Quote(path)
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: mount it writable, or use a directory on another one; show it with: df " + Quote(path)
	case errors.Is(err, fs.ErrPermission):
		return "your user needs permission for it; show the owner with: ls -la " + Quote(path)
	}
	return ""
}

// WithDiskHint adds [DiskHint] to an error that has no hint.
func WithDiskHint(err error, path string) error {
	if err == nil || HintOf(err) != "" {
		return err
	}
	hint := DiskHint(err, path)
	if hint == "" {
		return err
	}
	return &Error{Kind: KindOf(err), Hint: hint, Err: err}
}
