package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// recover finishes the changes of killed processes: it removes undecided plans, carries
// out decided ones, and removes trash.
func (l *Locked) recover() error {
	archive := l.dir.names.Archive
	info, err := l.root.Lstat(archive)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil // no changes
	}
	if err != nil {
		return err
	}
	names, err := list(l.root, archive)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		switch path := archive + "/" + name; {
		case !isFolder(l.root, path):
		case strings.HasPrefix(name, planned), strings.HasPrefix(name, trash):
			// A folder that cannot be removed does no harm.
			_ = l.removeAll(path)
		case strings.HasPrefix(name, doing):
			if err := l.resume(path); err != nil {
				return &fault.Error{
					Hint: "fix the cause and try again, or give up the change by moving its folder away: " + fault.Quote(filepath.Join(l.dir.path, path)),
					Err:  fmt.Errorf("%s: %w", repo.Path(path), cause(err)),
				}
			}
		}
	}
	return nil
}

// resume carries out the plan in folder.
func (l *Locked) resume(folder string) error {
	p, err := l.readPlan(folder)
	if err == nil {
		_, err = l.carryOut(folder, p)
	}
	switch {
	case err == nil, errors.Is(err, errRefused):
		return nil
	case isTemporary(err):
		return err
	}
	return l.salvage(folder)
}

// isTemporary reports whether a failure can end, such as a full disk. Other failures would
// repeat forever.
func isTemporary(err error) bool {
	if fault.HintOf(err) != "" {
		return true // a plan of a newer version
	}
	for _, e := range []error{fs.ErrPermission, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// readPlan reads the plan in folder. Without a plan, the process was killed between
// writing the manifest and renaming the folder.
func (l *Locked) readPlan(folder string) (*plan, error) {
	root, err := l.root.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var b []byte
	err = readFile(root, planFile[1:], func(f *os.File, info fs.FileInfo) (err error) {
		b, err = readAll(f, info, maxManifest)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		m, err := readManifest(l.root, folder)
		if err != nil {
			return nil, errPlan
		}
		return &plan{Verb: m.Verb, Time: m.Time, Keep: -1, manifestWritten: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return l.parsePlan(b)
}

// salvage turns the folder of an unreadable change into a snapshot, so that no file is
// lost and nothing is blocked.
func (l *Locked) salvage(folder string) error {
	archive := l.dir.names.Archive
	for at := l.dir.now(); ; at = at.Add(time.Nanosecond) {
		to := archive + "/" + snapshotName(at, "unreadable")
		if taken, err := l.exists(to); err != nil {
			return err
		} else if taken {
			continue
		}
		if err := l.rename(folder, to); err != nil {
			return err
		}
		return l.syncDir(archive)
	}
}
