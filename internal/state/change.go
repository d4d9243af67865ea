package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A Change is everything that one verb does to the directory.
type Change struct {
	Verb string    // reset, cleanup, evict, init, …
	Time time.Time // when; it names the snapshot
	// WorkflowID is the workflow whose files are moved, "" if unknown.
	WorkflowID string
	Moves      []Move // out of the directory, into one new snapshot
	Restore    string // the snapshot whose files come back, "" for none
	// RestoreOnly lists the entries of the snapshot that come back; all if empty. The
	// others stay in the snapshot.
	RestoreOnly []string
	Writes      []Write // new contents, after the moves; a file may be both moved and written
	// Keep is how many snapshots may remain, including the new one, which is
	// never pruned. 0 keeps none, and a negative number keeps all.
	Keep int
}

// A Move moves an entry from the directory to the archive.
type Move struct {
	Name   string
	Bucket string // the contract's word for the entry, for the manifest
	Reason string
}

// A Write is a file's new content.
type Write struct {
	Name    string
	Content []byte
}

// Applied is the result of a change.
type Applied struct {
	// Snapshot is the name of the new snapshot, "" if there is none.
	Snapshot string
	// Failed says why an entry could not be moved, by name; the others were moved.
	Failed map[string]error
	// Gone lists the entries that did not exist any more.
	Gone []string
	// Restored lists the names that came back, and NotRestored the names in the restored
	// snapshot that did not, each with the reason.
	Restored    []string
	NotRestored map[string]error
	// Pruned lists the snapshots that were removed, and PruneErr says why one
	// that should have been removed still exists.
	Pruned   []string
	PruneErr error
}

// Prefixes of folders in the archive that are not snapshots. They show the progress of a
// change. The next process with the lock finishes or removes them.
const (
	planned = ".plan-"  // being written; nothing has happened
	doing   = ".do-"    // decided; it will be finished
	trash   = ".trash-" // to be removed
)

// Files in the folder of a change.
const (
	planFile     = "/PLAN.json"     // the change
	newFiles     = "/new"           // new files
	movedFiles   = "/files"         // moved files
	manifestFile = "/MANIFEST.json" // written at the end, instead of the plan
)

var (
	errRefused  = errors.New("cannot write")
	errLeftover = errors.New("cannot remove")
)

// Apply makes a change completely or not at all. After a crash the directory is in the
// old state, or the next Lock brings it to the new one. Cancelling the context stops
// Apply only before the change is decided.
//
// Entries that cannot be moved or restored do not fail the change; Applied lists them.
// Only a change that makes a snapshot prunes old ones.
func (l *Locked) Apply(ctx context.Context, c Change) (Applied, error) {
	if err := l.check(c); err != nil {
		return Applied{}, l.changed(c, err)
	}
	if len(c.Moves) == 0 && c.Restore == "" && len(c.Writes) < 2 {
		for _, w := range c.Writes {
			return Applied{}, l.Replace(w.Name, w.Content)
		}
		return Applied{}, nil
	}
	if ctx.Err() != nil {
		return Applied{}, cancelledError(ctx, c.Verb)
	}
	if err := l.needArchive(); err != nil {
		return Applied{}, l.changed(c, err)
	}
	p, err := l.plan(c)
	if err != nil {
		return Applied{}, l.changed(c, err)
	}
	staged := l.dir.names.Archive + "/" + planned + stamp(p.Time)
	folder := l.dir.names.Archive + "/" + doing + stamp(p.Time)
	err = l.stage(ctx, staged, p, c)
	if err == nil {
		err = l.rename(staged, folder) // the change is decided
	}
	if err != nil {
		_ = l.removeAll(staged) // otherwise the next Lock removes it
		if ctx.Err() != nil {
			return Applied{}, cancelledError(ctx, c.Verb)
		}
		return Applied{}, l.changed(c, err)
	}
	if err := l.syncDir(l.dir.names.Archive); err != nil {
		return Applied{}, l.changed(c, err)
	}
	out, err := l.carryOut(folder, p)
	if err != nil {
		return out, l.changed(c, fmt.Errorf("interrupted; the next ken state command finishes it: %w", err))
	}
	return out, nil
}

// changed adds the verb and the directory to an error.
func (l *Locked) changed(c Change, err error) error {
	return fmt.Errorf("%s in %s: %w", c.Verb, repo.Path(l.dir.path), cause(err))
}

// check returns an error for an invalid change.
func (l *Locked) check(c Change) error {
	if err := checkVerb(c.Verb); err != nil {
		return err
	}
	moved := make(map[string]bool, len(c.Moves))
	for _, m := range c.Moves {
		if err := l.checkOwned(m.Name); err != nil {
			return err
		}
		moved[m.Name] = true
	}
	written := make(map[string]bool, len(c.Writes))
	for _, w := range c.Writes {
		if err := l.checkOwned(w.Name); err != nil {
			return err
		}
		if written[w.Name] {
			return fmt.Errorf("two contents for %s", repo.Path(w.Name))
		}
		written[w.Name] = true
		if _, err := l.modeOf(w.Name); err != nil && (!moved[w.Name] || !errors.Is(err, errDirectory)) {
			return fmt.Errorf("write %s: %w", repo.Path(w.Name), cause(err))
		}
	}
	if c.Restore != "" {
		return l.checkSnapshot(c.Restore)
	}
	return nil
}

// needArchive creates the archive if it does not exist. It must be a directory and not a
// link, which could lead anywhere.
func (l *Locked) needArchive() error {
	name := l.dir.names.Archive
	info, err := l.root.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return l.dir.notArchive()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return l.mkdirIf(".", name)
}

// notArchive returns the error for an archive that is not a directory.
func (d *Dir) notArchive() error {
	return &fault.Error{
		Hint: "move it away: " + fault.Quote(d.path+"/"+d.names.Archive),
		Err:  fmt.Errorf("the archive %s is not a directory (ken does not follow links)", d.names.Archive),
	}
}

// stage writes and syncs everything that carrying out the plan needs.
func (l *Locked) stage(ctx context.Context, folder string, p *plan, c Change) error {
	for _, dir := range []string{folder, folder + newFiles, folder + movedFiles} {
		if err := l.mkdir(dir); err != nil {
			return err
		}
	}
	moved := p.moved()
	for _, w := range c.Writes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := l.keepPresent(folder, w.Name, moved); err != nil {
			return fmt.Errorf("keep %s: %w", repo.Path(w.Name), cause(err))
		}
		mode, err := l.modeOf(w.Name)
		if err != nil && !errors.Is(err, errDirectory) {
			return err
		}
		if err := l.writeNew(folder+newFiles+"/"+w.Name, bytes.NewReader(w.Content), mode); err != nil {
			return err
		}
	}
	b, err := p.marshal()
	if err != nil {
		return err
	}
	if err := l.writeNew(folder+planFile, bytes.NewReader(b), 0); err != nil {
		return err
	}
	for _, dir := range []string{folder + newFiles, folder + movedFiles, folder} {
		if err := l.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// keepPresent links a file that is both moved and written into the archive. The new
// version then replaces the old one, so that readers always find a file.
func (l *Locked) keepPresent(folder, name string, moved map[string]bool) error {
	if !moved[name] {
		return nil
	}
	info, err := l.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return nil // a directory cannot have a second link; moveOut moves it
	}
	to := folder + movedFiles + "/" + name
	if err := l.link(name, to); err == nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // without a second link, moveOut moves it
	}
	return l.copyFile(name, to)
}

// carryOut carries out the plan in folder, and continues one that was interrupted.
//
// A step is done when its file is no longer at its source. Only the order of the steps
// tells that from a file that never existed.
func (l *Locked) carryOut(folder string, p *plan) (Applied, error) {
	var out Applied
	if err := l.moveOut(folder, p, &out); err != nil {
		return out, err
	}
	if p.Restore != "" {
		if err := l.restoreFiles(p, &out); err != nil {
			return out, err
		}
	}
	refused, err := l.putNew(folder, p)
	if err != nil {
		return out, err
	}
	if err := l.finish(folder, p, &out); err != nil {
		return out, err
	}
	return out, refused
}

func (l *Locked) moveOut(folder string, p *plan, out *Applied) error {
	if len(p.Moves) == 0 {
		return nil
	}
	there, err := list(l.root, folder+movedFiles)
	if err != nil {
		return err
	}
	done := make(map[string]bool, len(there))
	for _, name := range there {
		done[name] = true
	}
	later, err := l.alreadyDone(folder, p)
	if err != nil {
		return err
	}
	for _, m := range p.Moves {
		name := string(m.Name)
		if done[name] || later[name] {
			continue
		}
		err := l.rename(name, folder+movedFiles+"/"+name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out.Gone = append(out.Gone, name)
		case err != nil:
			addError(&out.Failed, name, fmt.Errorf("move to the archive: %w", cause(err)))
		}
	}
	// Sync the old version before a new one replaces it.
	if err := l.syncDir(folder + movedFiles); err != nil {
		return err
	}
	return l.syncDir(".")
}

// addError adds an error to a map that may be nil.
func addError(m *map[string]error, name string, err error) {
	if *m == nil {
		*m = make(map[string]error)
	}
	(*m)[name] = err
}

// alreadyDone returns the names that an interrupted run already restored or wrote. The
// current files with these names are not the ones to move.
func (l *Locked) alreadyDone(folder string, p *plan) (map[string]bool, error) {
	done := make(map[string]bool)
	ask := func(dir string, names []rawName) error {
		for _, name := range names {
			waiting, err := l.exists(dir + "/" + string(name))
			if err != nil {
				return err
			}
			done[string(name)] = done[string(name)] || !waiting
		}
		return nil
	}
	if err := ask(folder+newFiles, p.Writes); err != nil {
		return nil, err
	}
	return done, ask(p.From, p.Back)
}

// putNew moves the new files to their places. Failures that would repeat are returned as
// refused; after other failures the next Lock carries out the plan.
func (l *Locked) putNew(folder string, p *plan) (refused, err error) {
	if len(p.Writes) == 0 {
		return nil, nil
	}
	for _, raw := range p.Writes {
		name := string(raw)
		err := l.rename(folder+newFiles+"/"+name, name)
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist): // done by an earlier run
		case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrExist), errors.Is(err, syscall.EISDIR):
			refused = errors.Join(refused, fmt.Errorf("%w %s: %w", errRefused, repo.Path(name), cause(err)))
		default:
			return nil, fmt.Errorf("write %s: %w", repo.Path(name), cause(err))
		}
	}
	return refused, l.syncDir(".")
}
