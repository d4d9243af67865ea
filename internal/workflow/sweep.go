package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/contract"
	"ken/internal/state"
)

// A Sweep is what a verb moved into the archive, or would.
type Sweep struct {
	DryRun bool    `json:"dry_run"`
	Moves  []Moved `json:"moves"`
	// Archive is where it went, from the state directory; null if nothing did.
	Archive *string `json:"archive"`
	// Pruned lists the snapshots that the archive dropped to make room.
	Pruned []string `json:"pruned,omitempty"`
	// Remarks are what the user should know besides.
	Remarks []string `json:"remarks,omitempty"`
}

// Moved is one entry of a sweep.
type Moved struct {
	Name
	Bucket string     `json:"bucket"`
	Reason string     `json:"reason"`
	Status MoveStatus `json:"status"`
	Error  string     `json:"error,omitempty"`
}

// A MoveStatus is what became of an entry.
type MoveStatus string

// The statuses.
const (
	WouldArchive MoveStatus = "would_archive"
	Archived     MoveStatus = "archived"
	Deleted      MoveStatus = "deleted" // the archive keeps nothing
	Restored     MoveStatus = "restored"
	MoveFailed   MoveStatus = "error"
)

// Failures is how many moves could not be made.
func (s *Sweep) Failures() int {
	n := 0
	for _, m := range s.Moves {
		if m.Status == MoveFailed {
			n++
		}
	}
	return n
}

// sweep carries out a plan, or only says what it would do. It is planned once
// without the lock, since most plans are empty, and again with it.
func (k *Keeper) sweep(ctx context.Context, verb string, dry bool, plan func() ([]state.Move, error)) (*Sweep, error) {
	var moves []state.Move
	err := k.reading(ctx, verb, func() (err error) {
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
	err = k.locked(ctx, verb, func(h *state.Locked) error {
		if moves, err = plan(); err != nil {
			return err
		}
		change := state.Change{Verb: verb, Time: k.opts.Now(), Moves: moves, Keep: k.keep(), WorkflowID: k.currentID()}
		applied, err := h.Apply(ctx, change)
		s = k.swept(moves, applied)
		return err
	})
	return s, err
}

// currentID is the id of the workflow at hand, "" when nobody can say.
func (k *Keeper) currentID() string {
	d, err := k.load()
	if d == nil || err != nil {
		return ""
	}
	return d.id(keyID)
}

func newSweep(dry bool, moves []state.Move, status MoveStatus) *Sweep {
	s := &Sweep{DryRun: dry, Moves: []Moved{}}
	for _, m := range moves {
		s.Moves = append(s.Moves, Moved{Name: nameJSON(m.Name), Bucket: m.Bucket, Reason: m.Reason, Status: status})
	}
	return s
}

// swept says what became of moves.
func (k *Keeper) swept(moves []state.Move, a state.Applied) *Sweep {
	status := Archived
	if a.Snapshot == "" && k.keep() == 0 {
		status = Deleted
	}
	moves = slices.DeleteFunc(slices.Clone(moves), func(m state.Move) bool { return slices.Contains(a.Gone, m.Name) })
	s := newSweep(false, moves, status)
	for i, m := range moves {
		if err := a.Failed[m.Name]; err != nil {
			s.Moves[i].Status, s.Moves[i].Error = MoveFailed, err.Error()
		}
	}
	if a.Snapshot != "" {
		s.Archive = k.archived(a.Snapshot)
	}
	s.Pruned = a.Pruned
	if a.PruneErr != nil {
		s.Remarks = append(s.Remarks, fmt.Sprintf("the archive holds more than it should: %v", a.PruneErr))
	}
	return s
}

// archived is a snapshot's path from the state directory.
func (k *Keeper) archived(snapshot string) *string {
	path := k.name(contract.Archive) + "/" + snapshot
	return &path
}

// machinery reports whether a name is that of the lock or the archive. Whatever
// lies there is never moved: it is what moving is done with, and if it is not what
// it should be, that is said instead.
func machinery(c *contract.Contract, name string) bool {
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

// sortMoves orders moves by name, each name once.
func sortMoves(moves []state.Move) []state.Move {
	slices.SortStableFunc(moves, func(a, b state.Move) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(moves, func(a, b state.Move) bool { return a.Name == b.Name })
}
