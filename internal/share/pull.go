package share

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ken/internal/repo"
	"ken/internal/store"
)

// A Pulled says what was pulled.
type Pulled struct {
	Remote      string            `json:"remote"`
	Tip         repo.ID           `json:"tip"`           // of the remote; null when it has shared nothing yet
	Had         int               `json:"had,omitempty"` // records that it had when it was last heard of, and has nothing now
	Heard       time.Time         `json:"-"`             // when that was
	Taken       int               `json:"taken"`
	Held        []Held            `json:"held"`              // of those that came
	Withheld    []Held            `json:"-"`                 // all that are held back
	Quarantined []Quarantined     `json:"quarantined"`       // likewise
	Brought     []Brought         `json:"brought,omitempty"` // of those that were taken over, what was written in another name than who brought it
	Dropped     int               `json:"dropped"`           // records that this clone's ledger had, and an epoch of others has dropped
	Size        Size              `json:"size"`
	Base        *store.TeamStatus `json:"base,omitempty"` // of the team, where there is one
}

// Pull takes over what a remote has and this clone has not.
func (s *Share) Pull(ctx context.Context, remote string) (*Pulled, error) {
	remote = s.opts.Policy.remote(remote)
	out, err := s.pull(ctx, remote)
	if err != nil {
		return nil, fmt.Errorf("share with %s: %w", remote, err)
	}
	return out, nil
}

func (s *Share) pull(ctx context.Context, remote string) (*Pulled, error) {
	m := s.memories.Load()
	own, before, err := s.ledger.Tips(ctx, remote)
	if err != nil {
		return nil, err
	}
	heard := m.Fetched[remote]
	theirs, err := s.fetch(ctx, remote, &m)
	if err != nil {
		return nil, err
	}
	st, taken, err := s.settled(ctx, &m, own, true)
	if err != nil {
		return nil, err
	}
	out := &Pulled{Remote: remote, Tip: theirs, Taken: taken, Held: []Held{}, Quarantined: []Quarantined{}}
	if theirs.IsZero() && !before.IsZero() {
		lost := newState(Memory{})
		lost.tip = before
		if s.count(ctx, lost) == nil { // else it was no ledger
			out.Had, out.Heard = lost.records, heard
		}
	}
	p := &plan{state: st}
	if !theirs.IsZero() && theirs != own {
		ex, err := s.examine(ctx, st, theirs, true)
		if err != nil {
			return nil, s.unusable(remote, own, true, err)
		}
		for _, h := range byName(ex.held) {
			if _, before := st.held[h.Name]; !before {
				out.Held = append(out.Held, h)
			}
		}
		for _, q := range ex.listQuarantined() {
			if raw, _ := q.Raw(); st.quarantined[raw] == "" {
				out.Quarantined = append(out.Quarantined, q)
			}
		}
		out.Taken += len(ex.taken)
		if out.Brought, err = s.brought(ctx, own, theirs, ex.authors); err != nil {
			return nil, err
		}
		if p, err = s.join(ctx, st, ex); err != nil {
			return nil, err
		}
		for _, f := range ex.lacking {
			if p.dropped[f.name] {
				out.Dropped++
			}
		}
		if p.reread {
			m.Mark = ""
		}
		if err := s.write(ctx, p, new(news)); err != nil {
			return nil, err
		}
	}
	out.Size, out.Withheld = s.size(p.state), byName(p.held)
	if err := s.passOver(ctx, p, &m); err != nil {
		return nil, err
	}
	return out, s.note(ctx, remote, p.state, &m, Move{From: own, To: p.tip, Theirs: theirs})
}

// passOver moves the mark behind what was just taken over, unless something of one's own is
// among it: that is for the next push to find.
func (s *Share) passOver(ctx context.Context, p *plan, m *Memory) (err error) {
	if p.tip.IsZero() {
		return nil
	}
	if p.dropped == nil {
		if p.letGo, err = s.lists(ctx, p.state); err != nil {
			return err
		}
	}
	passed := *m
	passed.Unfit = slices.Clone(m.Unfit)
	own, err := s.fresh(ctx, p, &passed, toCount, p.tip)
	if err == nil && len(own.puts) == 0 {
		*m = passed
	}
	return err
}
