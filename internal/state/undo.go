package state

import (
	"context"
	"encoding/json"
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

// A record is what a process must know to undo the change of a killed one, or to finish it.
type record struct {
	Version int       `json:"version"`
	Home    string    `json:"home,omitempty"` // identifies the directory
	Keep    int       `json:"keep"`
	Restore string    `json:"restore,omitempty"` // the snapshot that is restored
	Back    []rawName `json:"back,omitempty"`    // the names that come back from it
}

// A rawName is a name of any bytes, in base64 in JSON.
type rawName []byte

const recordVersion = 1

var errRecord = errors.New("the change was not made for this directory")

// newRecord returns the record of a change, and the snapshot that it restores, nil if none.
func (l *Locked) newRecord(c Change) (*Snapshot, record, error) {
	home, err := l.home()
	r := record{Version: recordVersion, Home: home, Keep: c.Keep, Restore: c.Restore}
	if err != nil {
		return nil, r, err
	}
	if c.Restore == "" {
		return nil, r, nil
	}
	s, err := l.openSnapshot(c.Restore)
	if err != nil {
		return nil, r, err
	}
	selected := make(map[string]bool, len(c.RestoreOnly))
	for _, name := range c.RestoreOnly {
		selected[name] = true
	}
	for _, e := range s.Files {
		if len(c.RestoreOnly) == 0 || selected[e.Name] {
			r.Back = append(r.Back, rawName(e.Name))
		}
		delete(selected, e.Name)
	}
	for name := range selected {
		return nil, r, fmt.Errorf("snapshot %s has no %s", repo.Path(c.Restore), repo.Path(name))
	}
	return s, r, nil
}

// back returns the names that come back from a snapshot.
func (r record) back() map[string]bool {
	set := make(map[string]bool, len(r.Back))
	for _, name := range r.Back {
		set[string(name)] = true
	}
	return set
}

// home returns the identity of the directory.
func (l *Locked) home() (string, error) {
	info, err := l.root.Stat(".")
	if err != nil {
		return "", err
	}
	return identity(info), nil
}

// readRecord reads a record and does not trust it. It returns an error for one that was made
// for another directory, as in a copy or a checkout, and for one with names that a change
// cannot have.
func (l *Locked) readRecord(folder string) (record, error) {
	var r record
	root, err := l.root.OpenRoot(folder)
	if err != nil {
		return r, err
	}
	defer root.Close()
	var b []byte
	err = readFile(root, recordFile[1:], func(f *os.File, info fs.FileInfo) (err error) {
		b, err = readAll(f, info, maxManifest)
		return err
	})
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, err
	}
	home, err := l.home()
	if err != nil {
		return r, err
	}
	if r.Home != home || r.Version != recordVersion {
		return r, errRecord
	}
	names := r.Back
	if r.Restore != "" {
		names = append(names, rawName(r.Restore))
	}
	for _, name := range names {
		if err := l.checkOwned(string(name)); err != nil {
			return r, err
		}
	}
	return r, nil
}

// recover ends the changes of killed processes, and removes trash.
func (l *Locked) recover() error {
	archive := l.dir.names.Archive
	if !isFolder(l.root, archive) {
		return nil // no changes
	}
	names, err := list(l.root, archive)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		path := archive + "/" + name
		switch {
		case !isFolder(l.root, path):
		case strings.HasPrefix(name, trash):
			_ = l.removeAll(path) // a folder that cannot be removed does no harm
		case isChange(name):
			if err := l.end(path); err != nil {
				away := fault.Quote(filepath.Join(l.dir.path, path))
				return &fault.Error{
					Hint: "fix the cause and try again, or give up the change by moving its folder away: " + away,
					Err:  fmt.Errorf("%s: %w", repo.Path(path), cause(err)),
				}
			}
		}
	}
	return nil
}

// isChange reports whether a folder of the archive is that of a change.
func isChange(name string) bool {
	at, ok := strings.CutSuffix(name, pending)
	_, err := time.Parse(stampLayout, at)
	return ok && err == nil
}

// end undoes or finishes the change in folder. If that would fail forever, it keeps the
// folder as a snapshot, so that no file is lost and nothing is blocked.
func (l *Locked) end(folder string) error {
	undecided, err := l.exists(folder + newFile)
	switch {
	case err != nil:
	case undecided:
		err = l.undo(folder)
	default:
		err = l.resume(folder)
	}
	for _, passing := range []error{nil, fs.ErrPermission, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, passing) {
			return err
		}
	}
	return l.keepRest(folder)
}

// resume finishes the change in folder. Without a record, it only needs its name.
func (l *Locked) resume(folder string) error {
	r, err := l.readRecord(folder)
	if errors.Is(err, fs.ErrNotExist) {
		r, err = record{Keep: -1}, nil
	}
	if err != nil {
		return err
	}
	return l.finish(folder, r, &Applied{})
}

// undo brings back the old files of the change in folder. It can be repeated.
//
// It never overwrites a file that another program wrote since. The folder then becomes a
// snapshot, with the old file.
func (l *Locked) undo(folder string) error {
	if !isFolder(l.root, folder) {
		return nil
	}
	r, err := l.readRecord(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return l.keepRest(folder) // nothing has moved yet
	}
	if err != nil {
		return err
	}
	if err := l.unrestore(r); err != nil {
		return err
	}
	if err := l.moveBack(folder + movedFiles); err != nil {
		return err
	}
	return l.keepRest(folder)
}

// unrestore moves restored files back to their snapshot, unless they changed since.
func (l *Locked) unrestore(r record) error {
	if r.Restore == "" || !isFolder(l.root, l.dir.names.Archive+"/"+r.Restore) {
		return nil
	}
	s, err := l.openSnapshot(r.Restore)
	if err != nil {
		return err
	}
	recorded := s.recorded()
	back := r.back()
	for _, e := range s.Files {
		delete(back, e.Name) // it was not restored
	}
	entries, err := entriesOf(context.Background(), l.root, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !back[e.Name] || l.unaltered(".", e, recorded) != nil {
			continue
		}
		if err := l.rename(e.Name, s.dir+"/"+e.Name); err != nil {
			return err
		}
	}
	return l.syncDir(s.dir)
}

// moveBack moves the files in dir to the directory, unless their name is taken there.
func (l *Locked) moveBack(dir string) error {
	if !isFolder(l.root, dir) {
		return nil
	}
	names, err := list(l.root, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		old, err := l.root.Lstat(dir + "/" + name)
		if err != nil {
			return err
		}
		now, err := l.root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = l.rename(dir+"/"+name, name)
		case err == nil && os.SameFile(old, now): // a second link
			err = l.remove(dir + "/" + name)
		}
		if err != nil {
			return fmt.Errorf("bring back %s: %w", repo.Path(name), cause(err))
		}
	}
	return l.syncDir(".")
}

// keepRest removes the folder of a change, or makes it a snapshot if it still has old files.
func (l *Locked) keepRest(folder string) error {
	empty := true
	if isFolder(l.root, folder+movedFiles) {
		names, err := list(l.root, folder+movedFiles)
		if err != nil {
			return err
		}
		empty = len(names) == 0
	}
	if empty {
		return unlessLeftover(l.discard(folder))
	}
	at, err := l.unusedTime(time.Time{})
	if err != nil {
		return err
	}
	// Without a record, nothing of the change is finished any more, also if it looks decided.
	for _, path := range []string{folder + recordFile, folder + manifestFile} {
		if err := l.removeAll(path); err != nil {
			return err
		}
	}
	if err := l.writeManifest(folder, Change{Verb: "unfinished", Time: at}); err != nil {
		return err
	}
	if err := l.removeAll(folder + newFile); err != nil {
		return err
	}
	_, err = l.seal(folder)
	return err
}
