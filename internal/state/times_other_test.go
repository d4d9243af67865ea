//go:build !linux && !darwin

package state

import (
	"io/fs"
	"os"
	"time"
)

// lchtimes sets the time of anything but a link.
func lchtimes(path string, at time.Time) error {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return err
	}
	return os.Chtimes(path, at, at)
}
