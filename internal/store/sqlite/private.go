package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// createPrivate creates the file of a database, if there is none. Only the owner of the repository can read it, because
// summaries may be secret. If the group can write to the directory, as with core.sharedRepository, the group can also
// read the database. SQLite gives the -wal and -shm files the same permissions.
func createPrivate(path string) error {
	_, err := os.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err // the permissions of an existing file are the owner's choice
	}
	mode := fs.FileMode(0o600)
	if shared(filepath.Dir(path)) || shared(filepath.Dir(filepath.Dir(path))) {
		mode = 0o660
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// shared reports whether the group of a directory can write to it.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o020 != 0
}
