package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/state"
	"ken/internal/suggest"
)

// RestoreOptions selects a snapshot.
type RestoreOptions struct {
	Snapshot  string
	Latest    bool     // the latest snapshot that ken made
	Names     []string // the entries to restore; all if empty
	Overwrite bool     // replace newer files too
}

// Restore moves the files of a snapshot back, or some of them. Files in their way move to the archive.
// If one of those is newer than the file that would replace it, Restore changes nothing
// unless Overwrite is set.
func (m *Manager) Restore(ctx context.Context, opts RestoreOptions) (*Sweep, error) {
	all, err := m.snapshots(ctx, "restore")
	if err != nil {
		return nil, err
	}
	if _, _, err := m.choose(all, opts); err != nil {
		return nil, err // before the lock creates the directory
	}
	var s *Sweep
	err = m.locked(ctx, "restore", func(h *state.Locked) (err error) {
		s, err = m.restore(ctx, h, opts)
		return err
	})
	return s, err
}

func (m *Manager) restore(ctx context.Context, h *state.Locked, opts RestoreOptions) (*Sweep, error) {
	all, err := m.dir.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	snap, names, err := m.choose(all, opts)
	if err != nil {
		return nil, err
	}
	entries, err := m.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if m.c.IsInstance(e.Name) && slices.ContainsFunc(snap.Files, func(f state.Entry) bool { return f.Name == e.Name }) {
			return nil, &fault.Error{
				Hint: "restore the other entries by their names",
				Err:  fmt.Errorf("restore %s: %s belongs to a session of devt", snap.Name, repo.Path(e.Name)),
			}
		}
	}
	moves, newer := obstacles(m.c, entries, snap)
	if len(newer) > 0 && !opts.Overwrite {
		return nil, &fault.Error{
			Hint: "replace them, and archive the newer ones, with: " + restoreCommand("--overwrite", snap.Name, names),
			Err:  fmt.Errorf("restore %s: %w: %s", snap.Name, ErrNewer, strings.Join(newer, ", ")),
		}
	}
	// Keep all snapshots: the restored one makes room.
	applied, err := h.Apply(ctx, state.Change{
		Verb: "restore", Time: m.opts.Now(), Moves: moves, Restore: snap.Name, RestoreOnly: names, Keep: -1, WorkflowID: m.currentID(),
	})
	if err != nil {
		return nil, err
	}
	s := m.swept(moves, applied)
	for _, name := range applied.Restored {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(name), Bucket: m.c.Bucket(name).String(), Reason: "from " + snap.Name, Status: Restored})
	}
	for _, name := range slices.Sorted(maps.Keys(applied.NotRestored)) {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(name), Bucket: m.c.Bucket(name).String(), Reason: "from " + snap.Name, Status: MoveFailed, Error: applied.NotRestored[name].Error()})
	}
	return s, nil
}

// Errors of Restore.
var (
	ErrNewer      = errors.New("newer than the files in the snapshot")
	ErrNoSnapshot = errors.New("the archive has no snapshot")
	ErrNoEntry    = errors.New("the snapshot has no")
)

// choose finds the selected snapshot and returns it with only the selected entries, and
// their names. Without a selection names is nil.
func (m *Manager) choose(all []state.Snapshot, opts RestoreOptions) (snap state.Snapshot, names []string, err error) {
	if opts.Latest {
		snap, err = latest(all)
	} else {
		snap, err = m.find(all, opts.Snapshot, "ken state restore ")
	}
	if err != nil || len(opts.Names) == 0 {
		return snap, nil, err
	}
	var selected []state.Entry
	for _, name := range opts.Names {
		e, err := entryOf(snap, name)
		if err != nil {
			return snap, nil, err
		}
		if !slices.Contains(names, e.Name) {
			selected, names = append(selected, e), append(names, e.Name)
		}
	}
	snap.Files = selected
	return snap, names, nil
}

// latest returns the latest snapshot that ken made.
func latest(all []state.Snapshot) (state.Snapshot, error) {
	own := slices.DeleteFunc(slices.Clone(all), func(s state.Snapshot) bool { return s.Manifest == nil })
	if len(own) == 0 {
		return state.Snapshot{}, &fault.Error{Hint: "list the snapshots with: ken state archive ls", Err: fmt.Errorf("%w that ken made", ErrNoSnapshot)}
	}
	return slices.MaxFunc(own, func(a, b state.Snapshot) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Name, b.Name))
	}), nil
}

// find finds a snapshot by its name, which may begin with the name of the archive. The
// hint of its error repeats command with a similar name.
func (m *Manager) find(all []state.Snapshot, name, command string) (state.Snapshot, error) {
	name = strings.TrimPrefix(strings.TrimSuffix(name, "/"), m.name(contract.Archive)+"/")
	var names []string
	hint := "list the snapshots with: ken state archive ls"
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
		if _, err := entryOf(s, name); err == nil {
			hint = restoreCommand("", s.Name, []string{name}) // the latest with such a file
		}
	}
	if near, ok := suggest.Word(name, names); ok {
		hint = command + fault.Quote(near)
	}
	return state.Snapshot{}, &fault.Error{Hint: hint, Err: fmt.Errorf("%w %q", ErrNoSnapshot, name)}
}

// entryOf finds an entry of a snapshot by its name, or by the form of it that commands
// print.
func entryOf(snap state.Snapshot, name string) (state.Entry, error) {
	name = strings.TrimSuffix(name, "/")
	var names []string
	for _, e := range snap.Files {
		if e.Name == name || nameJSON(e.Name).Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	hint := "list its entries with: ken state archive show " + fault.Quote(snap.Name)
	near, ok := suggest.Word(name, names)
	if dir, _, below := strings.Cut(name, "/"); below && slices.Contains(names, dir) {
		near, ok = dir, true // ken restores a directory as a whole
	}
	if ok {
		hint = restoreCommand("", snap.Name, []string{near})
	}
	return state.Entry{}, &fault.Error{Hint: hint, Err: fmt.Errorf("%w %s: %s", ErrNoEntry, repo.Path(name), snap.Name)}
}

// restoreCommand returns a command that restores entries of a snapshot.
func restoreCommand(flag, snapshot string, names []string) string {
	words := []string{"ken state restore"}
	if flag != "" {
		words = append(words, flag)
	}
	for _, word := range append([]string{snapshot}, names...) {
		words = append(words, fault.Quote(word))
	}
	return strings.Join(words, " ")
}

// obstacles lists the entries that a snapshot's files would replace, and the names of
// those that are newer.
func obstacles(c *contract.Contract, entries []state.Entry, snap state.Snapshot) (moves []state.Move, newer []string) {
	there := make(map[string]state.Entry, len(entries))
	for _, e := range entries {
		there[e.Name] = e
	}
	for _, f := range snap.Files {
		e, ok := there[f.Name]
		if !ok || isOwn(c, f.Name) {
			continue
		}
		moves = append(moves, newMove(c, e, "replaced by the one from "+snap.Name))
		if e.Err != nil || e.ModTime.After(f.ModTime) {
			newer = append(newer, repo.Path(e.Name).String())
		}
	}
	return moves, newer
}
