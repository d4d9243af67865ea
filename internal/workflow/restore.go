package workflow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ken/internal/contract"
	"ken/internal/fault"
)

// An ArchiveList is what the archive holds.
type ArchiveList struct {
	Archive   string         `json:"archive"`
	Keep      int            `json:"keep"`
	Snapshots []ArchivedItem `json:"snapshots"`
}

// An ArchivedItem is one snapshot of the archive.
type ArchivedItem struct {
	Name       string    `json:"name"`
	Time       time.Time `json:"time"`
	Verb       string    `json:"verb,omitempty"` // "" for a folder that another program made
	WorkflowID string    `json:"workflow_id,omitempty"`
	Files      int       `json:"files"`
	Bytes      int64     `json:"bytes"`
	Foreign    bool      `json:"foreign,omitempty"`
}

// Archive lists the snapshots, oldest first.
func (k *Keeper) Archive(ctx context.Context) (*ArchiveList, error) {
	if err := k.settle(ctx, "archive"); err != nil {
		return nil, err
	}
	all, err := k.dir.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	list := &ArchiveList{Archive: k.name(contract.Archive), Keep: k.keep(), Snapshots: []ArchivedItem{}}
	for _, s := range all {
		item := ArchivedItem{Name: s.Name, Time: s.Time.UTC(), Files: len(s.Files), Foreign: s.Manifest == nil}
		if s.Manifest != nil {
			item.Verb, item.WorkflowID = s.Manifest.Verb, s.Manifest.WorkflowID
		}
		for _, f := range s.Files {
			if f.Kind == contract.Regular {
				item.Bytes += f.Size
			}
		}
		list.Snapshots = append(list.Snapshots, item)
	}
	return list, nil
}

// RestoreOptions says which snapshot comes back.
type RestoreOptions struct {
	Snapshot  string
	Overwrite bool // even over what is newer than it
}

// Restore undoes a sweep: what it moved comes back as it was. What stands in the way is
// moved into the archive in its turn; if any of that is newer than what would
// replace it, nothing happens unless told to.
func (k *Keeper) Restore(ctx context.Context, opts RestoreOptions) (*Sweep, error) {
	if err := k.settle(ctx, "restore"); err != nil {
		return nil, err
	}
	if _, err := k.snapshot(ctx, opts.Snapshot); err != nil {
		return nil, err // without making the directory
	}
	var s *Sweep
	err := k.locked(ctx, "restore", func(h Held) (err error) {
		s, err = k.restore(ctx, h, opts)
		return err
	})
	return s, err
}

func (k *Keeper) restore(ctx context.Context, h Held, opts RestoreOptions) (*Sweep, error) {
	snap, err := k.snapshot(ctx, opts.Snapshot)
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
			Hint: "ken state restore --overwrite " + fault.Quote(snap.Name) + " moves what is there into the archive first",
			Err:  fmt.Errorf("restore %s: newer than what would replace it: %s", snap.Name, strings.Join(newer, ", ")),
		}
	}
	// What comes back makes room: the ring is not pruned to make any.
	applied, err := h.Apply(ctx, Change{Verb: "restore", Time: k.opts.Now(), Moves: moves, Restore: snap.Name, Keep: -1, WorkflowID: k.currentID()})
	if err != nil {
		return nil, err
	}
	s := k.swept(moves, applied)
	for _, name := range applied.Restored {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(name), Bucket: k.c.Bucket(name), Reason: "from " + snap.Name, Status: Restored})
	}
	for _, f := range snap.Files {
		if err := applied.Left[f.Name]; err != nil {
			s.Moves = append(s.Moves, Moved{Name: nameJSON(f.Name), Bucket: k.c.Bucket(f.Name), Reason: "from " + snap.Name, Status: MoveFailed, Error: err.Error()})
		}
	}
	s.Remarks = append(s.Remarks, missing(snap)...)
	return s, nil
}

// snapshot finds a snapshot by its name.
func (k *Keeper) snapshot(ctx context.Context, name string) (Snapshot, error) {
	all, err := k.dir.Snapshots(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	name = strings.TrimPrefix(strings.TrimSuffix(name, "/"), k.name(contract.Archive)+"/")
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := "see what there is with: ken state archive ls"
	if near, ok := contract.Near(name, names); ok {
		hint = "ken state restore " + fault.Quote(near)
	}
	return Snapshot{}, &fault.Error{Hint: hint, Err: fmt.Errorf("the archive holds no snapshot %q", name)}
}

// obstacles lists what a snapshot's files would replace, and which of that is
// newer than they are.
func obstacles(c *contract.Contract, entries []contract.Entry, snap Snapshot) (moves []Move, newer []string) {
	there := make(map[string]contract.Entry, len(entries))
	for _, e := range entries {
		there[e.Name] = e
	}
	for _, f := range snap.Files {
		e, ok := there[f.Name]
		if !ok {
			continue
		}
		moves = append(moves, Move{e.Name, c.Classify(e), "replaced by the one from " + snap.Name})
		if e.Err != nil || e.ModTime.After(f.ModTime) {
			newer = append(newer, nameJSON(e.Name).Name)
		}
	}
	return moves, newer
}

// missing says what a snapshot's own account lists and it no longer holds.
func missing(snap Snapshot) []string {
	if snap.Manifest == nil {
		return nil
	}
	held := make(map[string]bool, len(snap.Files))
	for _, f := range snap.Files {
		held[nameJSON(f.Name).Name] = true
	}
	var out []string
	for _, f := range snap.Manifest.Files {
		if !held[f.Name] {
			out = append(out, fmt.Sprintf("%s is in the account of %s but no longer in it", f.Name, snap.Name))
		}
	}
	return out
}
