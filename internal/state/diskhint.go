package state

import (
	"errors"
	"io/fs"
	"syscall"

	"ken/internal/fault"
)

// WithDiskHint adds to an error what to do after a full disk, a read-only file system or
// a missing permission. It leaves other errors, and those with a hint, as they are.
func (d *Dir) WithDiskHint(err error) error {
	if err == nil || fault.HintOf(err) != "" {
		return err
	}
	hint := diskHint(err, d.path)
	if hint == "" {
		return err
	}
	return &fault.Error{Kind: fault.KindOf(err), Hint: hint, Err: err}
}

func diskHint(err error, path string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on the disk, then run the command again; show the free space with: df -h " + fault.Quote(path)
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: mount it writable, or use a directory on another one; show it with: df " + fault.Quote(path)
	case errors.Is(err, fs.ErrPermission):
		return "your user needs permission for it; show the owner with: ls -la " + fault.Quote(path)
	}
	return ""
}
