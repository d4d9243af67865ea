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
)

// RestoreOptions selects a snapshot.
type RestoreOptions struct {
	Snapshot  string
	Latest    bool // the latest snapshot that ken made
	Overwrite bool // replace newer files too
}

// Restore moves the files of a snapshot back. Files in their way move to the archive.
// If one of those is newer than the file that would replace it, Restore changes nothing
// unless Overwrite is set.
func (k *Manager) Restore(ctx context.Context, opts RestoreOptions) (*Sweep, error) {
	all, err := k.snapshots(ctx, "restore")
	if err != nil {
		return nil, err
	}
	if _, err := k.choose(all, opts); err != nil {
		return nil, err // before the lock creates the directory
	}
	var s *Sweep
	err = k.locked(ctx, "restore", func(h *state.Locked) (err error) {
		s, err = k.restore(ctx, h, opts)
		return err
	})
	return s, err
}

func (k *Manager) restore(ctx context.Context, h *state.Locked, opts RestoreOptions) (*Sweep, error) {
	all, err := k.dir.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	snap, err := k.choose(all, opts)
	if err != nil {
		return nil, err
	}
	entries, err := k.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	moves, newer := obstacles(k.c, entries, snap)
	if len(newer) > 0 && !opts.Overwrite {
		return nil, &fault.Error{
			Hint: "replace them, and archive the newer ones, with: ken state restore --overwrite " + fault.Quote(snap.Name),
			Err:  fmt.Errorf("restore %s: %w: %s", snap.Name, ErrNewer, strings.Join(newer, ", ")),
		}
	}
	// Keep all snapshots: the restored one makes room.
	applied, err := h.Apply(ctx, state.Change{Verb: "restore", Time: k.opts.Now(), Moves: moves, Restore: snap.Name, Keep: -1, WorkflowID: k.currentID()})
	if err != nil {
		return nil, err
	}
	s := k.swept(moves, applied)
	for _, name := range applied.Restored {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(name), Bucket: k.c.Bucket(name).String(), Reason: "from " + snap.Name, Status: Restored})
	}
	for _, name := range slices.Sorted(maps.Keys(applied.Left)) {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(name), Bucket: k.c.Bucket(name).String(), Reason: "from " + snap.Name, Status: MoveFailed, Error: applied.Left[name].Error()})
	}
	return s, nil
}

// Errors of Restore.
var (
	ErrNewer      = errors.New("newer than the files in the snapshot")
	ErrNoSnapshot = errors.New("the archive has no snapshot")
)

// choose finds the selected snapshot.
func (k *Manager) choose(all []state.Snapshot, opts RestoreOptions) (state.Snapshot, error) {
	if !opts.Latest {
		return k.find(all, opts.Snapshot)
	}
	own := slices.DeleteFunc(slices.Clone(all), func(s state.Snapshot) bool { return s.Manifest == nil })
	if len(own) == 0 {
		return state.Snapshot{}, &fault.Error{Hint: "list the snapshots with: ken state archive ls", Err: fmt.Errorf("%w that ken made", ErrNoSnapshot)}
	}
	return slices.MaxFunc(own, func(a, b state.Snapshot) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Name, b.Name))
	}), nil
}

// find finds a snapshot by its name, which may begin with the name of the archive.
func (k *Manager) find(all []state.Snapshot, name string) (state.Snapshot, error) {
	name = strings.TrimPrefix(strings.TrimSuffix(name, "/"), k.name(contract.Archive)+"/")
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := "list the snapshots with: ken state archive ls"
	if near, ok := contract.Near(name, names); ok {
		hint = "ken state restore " + fault.Quote(near)
	}
	return state.Snapshot{}, &fault.Error{Hint: hint, Err: fmt.Errorf("%w %q", ErrNoSnapshot, name)}
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
