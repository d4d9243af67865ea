package state

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ken/internal/repo"
)

// maxName is the length of the longest file name in bytes.
const maxName = 255

// Replace writes a file atomically: readers, also after a crash, find the old content or
// the new one. The file keeps its permissions. Replace replaces a link and does not
// follow it; a directory is an error.
func (l *Locked) Replace(name string, content []byte) error {
	err := l.checkOwned(name)
	var mode fs.FileMode
	if err == nil {
		mode, err = l.modeOf(name)
	}
	if err == nil {
		err = l.replace(".", name, content, mode)
	}
	if err != nil {
		return fmt.Errorf("write %s in %s: %w", repo.Path(name), repo.Path(l.dir.path), cause(err))
	}
	return nil
}

// replace is Replace for a file in any directory of the root. A mode of 0 is the default.
func (k *disk) replace(dir, name string, content []byte, mode fs.FileMode) error {
	path, temp := dir+"/"+name, dir+"/"+tempName(name)
	if err := k.writeNew(temp, content, mode); err != nil {
		return err
	}
	if err := k.rename(temp, path); err != nil {
		return errors.Join(err, k.remove(temp))
	}
	return k.syncDir(dir)
}

// modeOf returns the permissions of a regular file for its next version, and 0, the
// default, if there is none. A directory is an error.
func (k *disk) modeOf(path string) (fs.FileMode, error) {
	info, err := k.root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, errDirectory
	case info.Mode().IsRegular():
		return info.Mode().Perm(), nil
	}
	return 0, nil
}

// tempName returns a unique temporary name for the next version of a file.
func tempName(name string) string {
	tail := "." + strings.ToLower(rand.Text()[:12]) + ".tmp"
	return "." + name[:min(len(name), maxName-1-len(tail))] + tail
}
