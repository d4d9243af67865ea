package spec

import (
	"context"
	"errors"

	"ken/internal/repo"
)

// An AckRequest asks to have it on record that specs still hold.
type AckRequest struct {
	Nodes   []string // ids
	Reason  string   // why; required
	Session string   // who says so, "" for nobody in particular
}

// Acked is what was put on record.
type Acked struct {
	Commit repo.ID  `json:"commit"`
	Nodes  []string `json:"nodes"`
}

// Ack records, in an empty commit on top of HEAD, that the code that nodes govern
// was looked at and their specs still hold. Neither the index nor the work tree is
// touched. An id that is unknown refuses all of them.
func (r *Reader) Ack(ctx context.Context, req AckRequest) (*Acked, error) {
	return nil, errors.New("not yet")
}
