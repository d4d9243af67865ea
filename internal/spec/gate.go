package spec

import (
	"context"
	"errors"

	"ken/internal/repo"
)

// GateOptions say what is judged, and how strictly.
type GateOptions struct {
	Threshold int    // the drift from which a node blocks
	Range     string // judge these commits, A..B, instead of what is staged
}

// Gated is the verdict of a gate.
type Gated struct {
	Blocked []Blocked `json:"blocked"` // by id
	// Notice says why nothing was judged, "" when it was.
	Notice string `json:"notice,omitempty"`
	// Unknown is what could not be judged: the gate does not know that it is right.
	Unknown []Unknown `json:"unknown"`
}

// Blocked is a node that is too far behind what is to be committed.
type Blocked struct {
	Node  string      `json:"node"`
	Spec  repo.Path   `json:"spec"` // the file to edit
	Drift int         `json:"drift"`
	Paths []repo.Path `json:"paths"` // what it governs of what is to be committed
}

// Open reports whether the commit may go through.
func (g *Gated) Open() bool { return len(g.Blocked) == 0 && len(g.Unknown) == 0 }

// Gate judges what is about to be committed, or a range of commits.
func (r *Reader) Gate(ctx context.Context, opts GateOptions) (*Gated, error) {
	return nil, errors.New("not yet")
}
