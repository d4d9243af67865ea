package share

import (
	"context"
	"fmt"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// fetch asks the remote, and notes that it answered.
func (s *Share) fetch(ctx context.Context, remote string, m *Memory) (repo.ID, error) {
	theirs, err := s.ledger.Fetch(ctx, remote)
	if err != nil {
		return repo.ID{}, err
	}
	s.heard(remote, m)
	return theirs, nil
}

func (s *Share) heard(remote string, m *Memory) {
	if m.Fetched == nil {
		m.Fetched = make(map[string]time.Time)
	}
	m.Fetched[remote] = s.opts.Now().UTC().Truncate(time.Second)
}

// unusable says what to do about a remote's ledger that cannot be read: one that has a ledger
// here can be put in its place. Unless the remote was asked just now, it says since when that
// is known, which is noted here.
func (s *Share) unusable(remote string, own repo.ID, asked bool, err error) error {
	what, again := "its knowledge cannot be used", ""
	m := s.memories.Load()
	if asked {
		s.heard(remote, &m)
		if err := s.memories.Save(m); err != nil {
			return err
		}
	} else {
		what = "its knowledge, as it was last heard of"
		if at := m.Fetched[remote]; !at.IsZero() {
			what += " at " + at.Format(time.RFC3339)
		}
		what += ", cannot be used"
		again = "; if that was done since, ask it again: ken share status " + fault.Quote(remote) + " --fetch"
	}
	if hint := fault.HintOf(err); hint != "" {
		return &fault.Error{Hint: hint + again, Err: fmt.Errorf("%s: %w", what, err)}
	}
	instead := "to take it away, so that the next ken share push begins anew: git push " + fault.Quote(remote) + " --delete refs/ken/knowledge"
	if !own.IsZero() {
		instead = "to replace it with what this clone has: git push --force " + fault.Quote(remote) + " refs/ken/knowledge"
	}
	return &fault.Error{
		Hint: fmt.Sprintf("look at it with: git show %s; %s%s", fault.Quote("refs/ken/remotes/"+remote+"/knowledge"), instead, again),
		Err:  fmt.Errorf("%s: %w", what, err),
	}
}

// note moves the tips, and remembers the state of this clone's. If somebody else has
// moved it, what is remembered is of no use, and the next to come finds it out.
func (s *Share) note(ctx context.Context, remote string, st *state, m *Memory, to Move) error {
	s.heard(remote, m)
	if moved, err := s.ledger.Note(ctx, remote, to); err != nil || !moved {
		return err
	}
	st.remember(m)
	var err error
	if _, m.Store, err = s.store.Since(ctx, "", 1); err != nil {
		return err
	}
	return s.memories.Save(*m)
}
