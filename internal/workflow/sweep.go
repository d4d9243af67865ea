package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/contract"
	"ken/internal/state"
)

// A Sweep lists the entries that a verb moved to the archive, or would move.
type Sweep struct {
	DryRun bool    `json:"dry_run"`
	Moves  []Moved `json:"moves"`
	// Archive is the snapshot, relative to the state directory; null if nothing moved.
	Archive *string `json:"archive"`
	// Pruned lists the old snapshots that were removed.
	Pruned []string `json:"pruned,omitempty"`
	// Remarks are further notes for the user.
	Remarks []string `json:"remarks,omitempty"`
}

// Moved is one moved entry.
type Moved struct {
	Name
	Bucket string     `json:"bucket"`
	Reason string     `json:"reason"`
	Status MoveStatus `json:"status"`
	Error  string     `json:"error,omitempty"`
}

// A MoveStatus is the result of a move.
type MoveStatus string

// The statuses.
const (
	WouldArchive MoveStatus = "would_archive"
	Archived     MoveStatus = "archived"
	Deleted      MoveStatus = "deleted" // the archive keeps no snapshots
	Restored     MoveStatus = "restored"
	MoveFailed   MoveStatus = "error"
)

// Failures returns the number of failed moves.
func (s *Sweep) Failures() int {
	n := 0
	for _, m := range s.Moves {
		if m.Status == MoveFailed {
			n++
		}
	}
	return n
}

// sweep makes the planned moves, or only lists them. It plans without the lock first,
// since most plans are empty, and again with it. A directory that ken does not use is refused even then.
func (m *Manager) sweep(ctx context.Context, verb string, dry bool, plan func() ([]state.Move, error)) (*Sweep, error) {
	if err := m.mayChange(ctx); err != nil {
		return nil, err
	}
	var moves []state.Move
	err := m.reading(ctx, verb, func() (err error) {
		moves, err = plan()
		return err
	})
	if err != nil {
		return nil, err
	}
	if dry || len(moves) == 0 {
		return newSweep(dry, moves, WouldArchive), nil
	}
	var s *Sweep
	err = m.locked(ctx, verb, func(h *state.Locked) error {
		if moves, err = plan(); err != nil {
			return err
		}
		change := state.Change{Verb: verb, Time: m.opts.Now(), Moves: moves, Keep: m.keep(), WorkflowID: m.currentID()}
		applied, err := h.Apply(ctx, change)
		s = m.swept(moves, applied)
		return err
	})
	return s, err
}

// currentID returns the id of the current workflow, "" if unknown.
func (m *Manager) currentID() string {
	d, _ := m.load()
	return d.id(keyID)
}

func newSweep(dry bool, moves []state.Move, status MoveStatus) *Sweep {
	s := &Sweep{DryRun: dry, Moves: []Moved{}}
	for _, m := range moves {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(m.Name), Bucket: m.Bucket, Reason: m.Reason, Status: status})
	}
	return s
}

// swept returns the result of moves.
func (m *Manager) swept(moves []state.Move, a state.Applied) *Sweep {
	status := Archived
	if a.Snapshot == "" && m.keep() == 0 {
		status = Deleted
	}
	moves = slices.DeleteFunc(slices.Clone(moves), func(move state.Move) bool { return slices.Contains(a.Gone, move.Name) })
	s := newSweep(false, moves, status)
	for i, move := range moves {
		if err := a.Failed[move.Name]; err != nil {
			s.Moves[i].Status, s.Moves[i].Error = MoveFailed, err.Error()
		}
	}
	if a.Snapshot != "" {
		s.Archive = m.archived(a.Snapshot)
	}
	s.Pruned = a.Pruned
	if a.PruneErr != nil {
		s.Remarks = append(s.Remarks, fmt.Sprintf("an old snapshot could not be removed: %v", a.PruneErr))
	}
	return s
}

// archived returns the path of a snapshot, relative to the state directory.
func (m *Manager) archived(snapshot string) *string {
	path := m.name(contract.Archive) + "/" + snapshot
	return &path
}

// isOwn reports whether name is the lock or the archive, which are never moved.
func isOwn(c *contract.Contract, name string) bool {
	return name == c.Name(contract.Lock) || name == c.Name(contract.Archive)
}

// classify returns the bucket of an entry. An entry that could not be inspected is
// Unknown.
func classify(c *contract.Contract, e state.Entry) contract.Bucket {
	switch {
	case e.Err != nil || e.Kind == state.Uninspected:
		return contract.Unknown
	case e.IsDir():
		return c.DirBucket(e.Name)
	}
	return c.Bucket(e.Name)
}

func newMove(c *contract.Contract, e state.Entry, reason string) state.Move {
	return state.Move{Name: e.Name, Bucket: classify(c, e).String(), Reason: reason}
}

// sortMoves sorts moves by name and removes duplicates.
func sortMoves(moves []state.Move) []state.Move {
	slices.SortStableFunc(moves, func(a, b state.Move) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(moves, func(a, b state.Move) bool { return a.Name == b.Name })
}
