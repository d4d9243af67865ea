//go:build unix

package local

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a new name in a directory survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
