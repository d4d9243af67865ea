package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// earlierMode is the mode of databases that the first release made.
const earlierMode fs.FileMode = 0o644

// keepPrivate makes sure that only the owner of the repository can read the database: its
// summaries may say what other users of the machine must not know. A repository whose
// directory its group may write, such as one with core.sharedRepository, is the group's.
// SQLite gives the files beside the database the same permissions.
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
		_ = os.Chmod(name, mode) // the file may be another user's, or not there
	}
	return nil
}

// shared reports whether the group of a directory may write to it.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o020 != 0
}
