package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A Change is everything that one verb does to the directory.
//
// While it is made, a change has a folder in the archive, called <time>.tmp. It has a record
// (CHANGE.json), the new file (new), and the old entries in files/. Each step is one rename:
// old entries move to files/, restored ones move from their snapshot to the directory, and the
// new file takes its place last. That last rename decides: as long as the folder has the new
// file, the next process with the lock undoes the change, which is moving back. A change without
// a new file has an empty one instead, and ends with its removal. Then the folder gets the name
// of a snapshot.
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
	Write       *Write // a new content, after the moves; the file may be both moved and written
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

// Names of folders in the archive that are not snapshots.
const (
	pending = ".tmp"    // the end of the name: it will be undone or finished
	trash   = ".trash-" // the beginning of the name: it will be removed
)

// These are the contents of the folder of a change.
const (
	recordFile   = "/CHANGE.json"
	newFile      = "/new"
	movedFiles   = "/files"
	manifestFile = "/MANIFEST.json"
)

// Apply makes a change completely or not at all. If it fails, or its process is killed, the
// directory is in the old state, or the next Lock brings it there. Once the change is decided,
// only the archive remains to be tidied.
//
// Entries that cannot be moved or restored do not fail the change; Applied lists them.
// Only a change that makes a snapshot prunes old ones.
func (l *Locked) Apply(ctx context.Context, c Change) (Applied, error) {
	if err := l.check(c); err != nil {
		return Applied{}, l.changed(c, err)
	}
	if len(c.Moves) == 0 && c.Restore == "" {
		if c.Write == nil {
			return Applied{}, nil
		}
		return Applied{}, l.Replace(c.Write.Name, c.Write.Content)
	}
	if ctx.Err() != nil {
		return Applied{}, cancelledError(ctx, c.Verb)
	}
	if err := l.needArchive(); err != nil {
		return Applied{}, l.changed(c, err)
	}
	var err error
	if c.Time, err = l.unusedTime(c.Time); err != nil {
		return Applied{}, l.changed(c, err)
	}
	var out Applied
	folder := l.dir.names.Archive + "/" + stamp(c.Time) + pending
	r, err := l.begin(ctx, folder, c, &out)
	if err == nil {
		err = l.decide(folder, c.Write)
	}
	if err != nil && l.undo(folder) != nil {
		return Applied{}, l.changed(c, fmt.Errorf("interrupted; the next ken state command undoes it: %w", err))
	}
	if err != nil && ctx.Err() != nil {
		return Applied{}, cancelledError(ctx, c.Verb)
	}
	if err != nil {
		return Applied{}, l.changed(c, err)
	}
	if err := l.finish(folder, r, &out); err != nil {
		return out, l.changed(c, fmt.Errorf("the change is made, and the next ken state command tidies the archive: %w", err))
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
	for _, m := range c.Moves {
		if err := l.checkOwned(m.Name); err != nil {
			return err
		}
	}
	if c.Restore != "" {
		return l.checkSnapshot(c.Restore)
	}
	if c.Write == nil {
		return nil
	}
	if err := l.checkOwned(c.Write.Name); err != nil {
		return err
	}
	_, err := l.modeOf(c.Write.Name)
	makesRoom := c.moves(c.Write.Name) && errors.Is(err, errDirectory)
	if err != nil && !makesRoom {
		return fmt.Errorf("write %s: %w", repo.Path(c.Write.Name), cause(err))
	}
	return nil
}

// moves reports whether the change moves an entry.
func (c Change) moves(name string) bool {
	return slices.ContainsFunc(c.Moves, func(m Move) bool { return m.Name == name })
}

// writes reports whether the change writes a file.
func (c Change) writes(name string) bool { return c.Write != nil && c.Write.Name == name }

// needArchive creates the archive if it does not exist. It must be a directory and not a
// link, which could lead anywhere.
func (l *Locked) needArchive() error {
	name := l.dir.names.Archive
	if there, err := l.exists(name); err != nil {
		return err
	} else if there && !isFolder(l.root, name) {
		return l.dir.notArchive()
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

// checkVerb returns an error for a verb that a snapshot's name cannot have.
func checkVerb(verb string) error {
	if verb == "" || strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return fmt.Errorf("%q is not a verb", verb)
	}
	return nil
}

// unusedTime returns the first time from at on that no folder of the archive has.
func (l *Locked) unusedTime(at time.Time) (time.Time, error) {
	if at.IsZero() {
		at = l.dir.now()
	}
	names, err := list(l.root, l.dir.names.Archive)
	if err != nil {
		return at, err
	}
	taken := strings.Join(names, "/")
	for strings.Contains(taken, stamp(at)) {
		at = at.Add(time.Nanosecond)
	}
	return at.UTC(), nil
}

// begin does everything that can be undone.
func (l *Locked) begin(ctx context.Context, folder string, c Change, out *Applied) (record, error) {
	s, r, err := l.newRecord(c)
	if err == nil {
		err = l.prepare(folder, r, c.Write)
	}
	if err == nil {
		err = l.moveOut(ctx, folder+movedFiles, c, out)
	}
	if err == nil && s != nil {
		err = l.restore(s, r, len(c.RestoreOnly) == 0, out)
	}
	if err == nil && c.Keep != 0 {
		err = l.writeManifest(folder, c)
	}
	return r, err
}

// prepare creates the folder of a change. All of it is on disk before anything moves.
func (l *Locked) prepare(folder string, r record, w *Write) error {
	for _, dir := range []string{folder, folder + movedFiles} {
		if err := l.mkdir(dir); err != nil {
			return err
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := l.writeNew(folder+recordFile, append(b, '\n'), 0); err != nil {
		return err
	}
	var content []byte
	var mode fs.FileMode
	if w != nil {
		content = w.Content
		mode, _ = l.modeOf(w.Name) // a directory makes room
	}
	if err := l.writeNew(folder+newFile, content, mode); err != nil {
		return err
	}
	return l.syncDirs(folder, l.dir.names.Archive)
}

// moveOut moves entries out of the directory.
func (l *Locked) moveOut(ctx context.Context, to string, c Change, out *Applied) error {
	for _, m := range c.Moves {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		move := l.rename
		if c.writes(m.Name) {
			move = l.keep
		}
		err := move(m.Name, to+"/"+m.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out.Gone = append(out.Gone, m.Name)
		case err != nil && c.writes(m.Name):
			return fmt.Errorf("keep %s: %w", repo.Path(m.Name), cause(err))
		case err != nil:
			addError(&out.Failed, m.Name, fmt.Errorf("move to the archive: %w", cause(err)))
		}
	}
	// The old version is on disk before a new one replaces it.
	return l.syncDirs(to, ".")
}

// keep moves a file that will be replaced. If possible it stays in the directory too, under a
// second link, so that other programs always find a file.
func (l *Locked) keep(name, to string) error {
	info, err := l.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() && l.link(name, to) == nil {
		return nil
	}
	return l.rename(name, to)
}

// addError adds an error to a map that may be nil.
func addError(m *map[string]error, name string, err error) {
	if *m == nil {
		*m = make(map[string]error)
	}
	(*m)[name] = err
}

// writeManifest writes the manifest of a change that moved something.
func (l *Locked) writeManifest(folder string, c Change) error {
	files, err := entriesOf(context.Background(), l.root, folder+movedFiles)
	if err != nil || len(files) == 0 {
		return err
	}
	b, err := l.manifest(folder+movedFiles, c, files)
	if err != nil {
		return err
	}
	if err := l.writeNew(folder+manifestFile, b, 0); err != nil {
		return err
	}
	return l.syncDir(folder)
}

// decide makes the change: from now on it is finished and not undone.
func (l *Locked) decide(folder string, w *Write) error {
	if w == nil {
		return l.remove(folder + newFile)
	}
	if err := l.rename(folder+newFile, w.Name); err != nil {
		return fmt.Errorf("write %s: %w", repo.Path(w.Name), cause(err))
	}
	return nil
}

// finish ends a change that is decided: it tidies the restored snapshot, prunes old ones, and
// makes the folder a snapshot, or removes it if there is nothing to keep. It can be repeated.
func (l *Locked) finish(folder string, r record, out *Applied) error {
	if err := l.syncDirs(folder, "."); err != nil {
		return err
	}
	if err := l.trim(r); err != nil {
		return err
	}
	files, err := list(l.root, folder+movedFiles)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		out.Pruned, out.PruneErr = l.prune(r.Keep, r.Restore)
	}
	if len(files) == 0 || r.Keep == 0 {
		err := l.discard(folder)
		if errors.Is(err, errLeftover) && len(files) > 0 && out.PruneErr == nil {
			out.PruneErr = err
		}
		return unlessLeftover(err)
	}
	out.Snapshot, err = l.seal(folder)
	return err
}

// seal gives a folder with a manifest the name of a snapshot.
func (l *Locked) seal(folder string) (name string, err error) {
	m, err := readManifest(l.root, folder)
	if err == nil {
		err = checkVerb(m.Verb)
	}
	if err == nil {
		// The next process with the lock knows what to do with a folder without a record.
		err = l.removeAll(folder + recordFile)
	}
	if err != nil {
		return "", err
	}
	name = snapshotName(m.Time, m.Verb)
	archive := l.dir.names.Archive
	if err := l.rename(folder, archive+"/"+name); err != nil {
		return "", err
	}
	return name, l.syncDir(archive)
}

// snapshotName returns the name of a snapshot: the time and the verb, or only the time
// for a reset.
func snapshotName(at time.Time, verb string) string {
	if verb == "reset" {
		return stamp(at)
	}
	return stamp(at) + "-" + verb
}

// stamp formats a time for file names: sortable, to the nanosecond, with characters that
// every system allows.
func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

const stampLayout = "2006-01-02T15-04-05.000000000Z"
