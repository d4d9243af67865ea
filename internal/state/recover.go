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

// recover settles what killed holders have left in the archive: a plan that was not
// yet decided never was, one that was is carried out, and what was thrown away goes.
func (h *Locked) recover() error {
	archive := h.dir.names.Archive
	info, err := h.root.Lstat(archive)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil // nothing of ours is there
	}
	if err != nil {
		return err
	}
	names, err := list(h.root, archive)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		switch path := archive + "/" + name; {
		case !isFolder(h.root, path):
		case strings.HasPrefix(name, planned), strings.HasPrefix(name, trash):
			// What cannot be removed is in nobody's way.
			_ = h.removeAll(path)
		case strings.HasPrefix(name, doing):
			if err := h.resume(path); err != nil {
				return &fault.Error{
					Hint: "mend the cause and run it again, or give the change up by moving its folder away: " + fault.Quote(filepath.Join(h.dir.path, path)),
					Err:  fmt.Errorf("%s: %w", repo.Path(path), cause(err)),
				}
			}
		}
	}
	return nil
}

// resume carries out the plan in folder.
func (h *Locked) resume(folder string) error {
	p, err := h.readPlan(folder)
	if err == nil {
		_, err = h.carryOut(folder, p)
	}
	switch {
	case err == nil, errors.Is(err, errRefused):
		return nil
	case passing(err):
		return err
	}
	return h.salvage(folder)
}

// passing reports whether a failure may be over when the cause is mended; a plan
// that failed otherwise can never be carried out.
func passing(err error) bool {
	if fault.HintOf(err) != "" {
		return true // of a newer ken
	}
	for _, e := range []error{fs.ErrPermission, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// readPlan reads the plan in folder. One that has none was killed between writing
// the manifest and giving the folder its name.
func (h *Locked) readPlan(folder string) (*plan, error) {
	root, err := h.root.OpenRoot(folder)
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
		m, err := readManifest(h.root, folder)
		if err != nil {
			return nil, errPlan
		}
		return &plan{Verb: m.Verb, Time: m.Time, Keep: -1, accounted: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return h.parsePlan(b)
}

// salvage keeps the folder of a change that nobody can read any more, as it is, as
// a snapshot: nothing in it is lost, and nothing waits for it.
func (h *Locked) salvage(folder string) error {
	archive := h.dir.names.Archive
	for at := h.dir.now(); ; at = at.Add(time.Nanosecond) {
		to := archive + "/" + snapshotName(at, "unreadable")
		if taken, err := h.exists(to); err != nil {
			return err
		} else if taken {
			continue
		}
		if err := h.rename(folder, to); err != nil {
			return err
		}
		return h.syncDir(archive)
	}
}
