package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// earlierMode is the mode of databases that the first release created.
const earlierMode fs.FileMode = 0o644

// keepPrivate makes the database readable only by the owner of the repository, because summaries may be secret. If
// the group can write to the directory, as with core.sharedRepository, the group can also read the database.
// SQLite gives the -wal and -shm files the same permissions.
func keepPrivate(path string) error {
	mode := fs.FileMode(0o600)
	if shared(filepath.Dir(path)) || shared(filepath.Dir(filepath.Dir(path))) {
		mode = 0o660
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(mode), f.Close())
	}
	if err != nil || info.Mode().Perm() != earlierMode {
		return err // other permissions are the owner's choice
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		_ = os.Chmod(name, mode) // the file may belong to another user or be missing
	}
	return nil
}

// shared reports whether the group of a directory can write to it.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o020 != 0
}
