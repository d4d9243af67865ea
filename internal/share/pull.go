package share

import (
	"context"
	"fmt"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
)

// A PullResult is the result of a pull.
type PullResult struct {
	Remote      string            `json:"remote"`
	Tip         repo.ID           `json:"tip"`           // of the remote; null if it has no records
	OwnRecords  int               `json:"had,omitempty"` // the number of records of this clone, if the remote has none now
	Taken       int               `json:"taken"`
	Untrusted   []Untrusted       `json:"untrusted"`         // all records that this clone ignores for their committer
	Quarantined []Quarantined     `json:"quarantined"`       // all files that this clone ignores for their content
	Mismatches  []AuthorMismatch  `json:"brought,omitempty"` // new records with another author than their committer
	Removed     int               `json:"dropped"`           // records that someone pruned since the last pull
	Size        Size              `json:"size"`
	Base        *store.TeamStatus `json:"base,omitempty"` // of the team's database, if there is one
}

// Pull adds the new records of a remote to the store.
func (s *Share) Pull(ctx context.Context, remote string) (*PullResult, error) {
	remote = s.opts.Policy.remote(remote)
	out, err := s.pull(ctx, remote)
	if err != nil {
		return nil, fmt.Errorf("share with %s: %w", remote, err)
	}
	return out, nil
}

func (s *Share) pull(ctx context.Context, remote string) (*PullResult, error) {
	u, err := s.mergeRemote(ctx, remote, true, true)
	if err != nil {
		return nil, err
	}
	// The mark moves behind the new records, unless the next push has to find others among them.
	counted, err := s.eachNewRecord(ctx, u, func([]git.NewFile) error { return nil })
	if err != nil {
		return nil, err
	}
	if counted.records == 0 {
		u.Mark = counted.mark
	}
	if err := s.save(ctx, u); err != nil {
		return nil, err
	}
	u.fillLists()
	out := &PullResult{
		Remote: remote, Tip: u.theirs, Taken: u.taken, Untrusted: u.Untrusted, Quarantined: u.Quarantined,
		Mismatches: u.mismatches, Removed: u.removed, Size: s.size(u.view),
	}
	if u.theirs.IsZero() {
		out.OwnRecords = u.Records
	}
	return out, nil
}
