package state

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"ken/internal/repo"
)

// CopyToArchive copies a file with its time and permissions to the logs of the archive, and
// syncs the copy.
func (h *Locked) CopyToArchive(name string) error {
	err := h.checkOwned(name)
	if err == nil {
		err = h.copyToArchive(name)
	}
	if err != nil {
		return fmt.Errorf("copy %s in %s to the archive: %w", repo.Path(name), repo.Path(h.dir.path), cause(err))
	}
	return nil
}

func (h *Locked) copyToArchive(name string) error {
	to, err := h.logName(name)
	if err != nil {
		return err
	}
	if err := h.copyFile(name, to); err != nil {
		return err
	}
	return h.syncDir(h.logs())
}

// copyFile copies a regular file of the directory. The caller syncs the target directory.
func (h *Locked) copyFile(name, to string) error {
	return readFile(h.root, name, func(f *os.File, info fs.FileInfo) error {
		if err := h.writeNew(to, f, info.Mode().Perm()); err != nil {
			return err
		}
		return h.chtimes(to, info.ModTime())
	})
}

// logs returns the path of the folder for full logs and broken files.
func (h *Locked) logs() string { return h.dir.names.Archive + "/.logs" }

// logName creates the folder for logs and returns an unused path in it, made of the time
// and the name of the file.
func (h *Locked) logName(name string) (string, error) {
	if err := h.needArchive(); err != nil {
		return "", err
	}
	if err := h.mkdirIf(h.dir.names.Archive, h.logs()); err != nil {
		return "", err
	}
	for at := h.dir.now(); ; at = at.Add(time.Nanosecond) {
		to := stamp(at) + "-" + name
		to = h.logs() + "/" + to[:min(len(to), maxName)]
		if taken, err := h.exists(to); !taken || err != nil {
			return to, err
		}
	}
}

// stamp formats a time for file names: sortable, to the nanosecond, with characters that
// every system allows.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15-04-05.000000000Z") }
