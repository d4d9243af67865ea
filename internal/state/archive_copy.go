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
func (l *Locked) CopyToArchive(name string) error {
	err := l.checkOwned(name)
	if err == nil {
		err = l.copyToArchive(name)
	}
	if err != nil {
		return fmt.Errorf("copy %s in %s to the archive: %w", repo.Path(name), repo.Path(l.dir.path), cause(err))
	}
	return nil
}

func (l *Locked) copyToArchive(name string) error {
	to, err := l.logName(name)
	if err != nil {
		return err
	}
	if err := l.copyFile(name, to); err != nil {
		return err
	}
	return l.syncDir(l.logs())
}

// copyFile copies a regular file of the directory. The caller syncs the target directory.
func (l *Locked) copyFile(name, to string) error {
	return readFile(l.root, name, func(f *os.File, info fs.FileInfo) error {
		if err := l.writeNew(to, f, info.Mode().Perm()); err != nil {
			return err
		}
		return l.chtimes(to, info.ModTime())
	})
}

// logs returns the path of the folder for full logs and broken files.
func (l *Locked) logs() string { return l.dir.names.Archive + "/.logs" }

// logName creates the folder for logs and returns an unused path in it, made of the time
// and the name of the file.
func (l *Locked) logName(name string) (string, error) {
	if err := l.needArchive(); err != nil {
		return "", err
	}
	if err := l.mkdirIf(l.dir.names.Archive, l.logs()); err != nil {
		return "", err
	}
	for at := l.dir.now(); ; at = at.Add(time.Nanosecond) {
		to := stamp(at) + "-" + name
		to = l.logs() + "/" + to[:min(len(to), maxName)]
		if taken, err := l.exists(to); !taken || err != nil {
			return to, err
		}
	}
}

// stamp formats a time for file names: sortable, to the nanosecond, with characters that
// every system allows.
func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

const stampLayout = "2006-01-02T15-04-05.000000000Z"
