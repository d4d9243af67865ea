package share

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ken/internal/repo"
	"ken/internal/store"
)

// A Standing is how what is known here stands to what a remote has.
type Standing struct {
	Remote  string    `json:"remote"`
	Known   bool      `json:"known"`   // the remote was asked once, or pushed to
	Fetched time.Time `json:"fetched"` // when it was last heard of
	Tip     repo.ID   `json:"tip"`     // of this clone
	Theirs  repo.ID   `json:"theirs"`  // of the remote, when it was last heard of

	Base *store.TeamStatus `json:"base,omitempty"` // of the team, where there is one

	Unpushed    int           `json:"unpushed"` // records that the remote has not
	Unpulled    int           `json:"unpulled"` // records of the remote that are not here
	Quarantined []Quarantined `json:"quarantined"`
	Junk        int           `json:"junk"` // of the quarantined, what a new epoch would leave behind
	Held        []Held        `json:"held"`
	Mine        Own           `json:"held_own"`
	Unfit       []Unfit       `json:"unfit"`
	Epoch       int           `json:"epoch"` // how often something was dropped
	Trust       string        `json:"trust"`
	Who         string        `json:"who,omitempty"`       // commits here
	Why         string        `json:"untrusted,omitempty"` // why others hold back what is shared from here
	Size        Size          `json:"size"`
}

// Current reports whether nothing is to be done here, as far as is known. What others brought
// and is unfit since it was held back is for them to vouch for.
func (s *Standing) Current() bool {
	here := func(u Unfit) bool { return u.Who == "" || u.Who == s.Who }
	return s.Known && s.Unpushed == 0 && s.Unpulled == 0 && s.Mine == (Own{}) && len(s.Quarantined) == 0 &&
		!slices.ContainsFunc(s.Unfit, here) && !s.Size.Over()
}

// Status says how this clone stands to a remote: by what was last heard of that, or by
// what it says now. Nothing is taken over.
func (s *Share) Status(ctx context.Context, remote string, fetch bool) (*Standing, error) {
	remote = s.opts.Policy.remote(remote)
	out, err := s.status(ctx, remote, fetch)
	if err != nil {
		return nil, fmt.Errorf("share with %s: %w", remote, err)
	}
	return out, nil
}

func (s *Share) status(ctx context.Context, remote string, fetch bool) (*Standing, error) {
	m := s.memories.Load()
	if fetch {
		if _, err := s.fetch(ctx, remote, &m); err != nil {
			return nil, err
		}
		if err := s.memories.Save(m); err != nil {
			return nil, err
		}
	}
	own, theirs, err := s.ledger.Tips(ctx, remote)
	if err != nil {
		return nil, err
	}
	st, untaken, err := s.settled(ctx, &m, own, false)
	if err != nil {
		return nil, err
	}
	_, heard := m.Fetched[remote]
	out := &Standing{
		Remote: remote, Known: heard || !theirs.IsZero(), Fetched: m.Fetched[remote], Tip: own, Theirs: theirs,
		Quarantined: []Quarantined{}, Held: []Held{}, Unfit: []Unfit{}, Trust: s.opts.Policy.Trust.String(),
	}
	p := &plan{state: st}
	out.Unpulled = untaken
	if theirs.IsZero() || theirs == own {
		if p.letGo, err = s.lists(ctx, st); err != nil {
			return nil, err
		}
	} else {
		ex, err := s.examine(ctx, st, theirs, false)
		if err != nil {
			return nil, s.unusable(remote, own, fetch, err)
		}
		out.Unpulled += len(ex.taken)
		if p, err = s.join(ctx, st, ex); err != nil {
			return nil, err
		}
	}
	if p.reread {
		m.Mark = ""
	}
	if out.Unpushed, err = s.unpushed(ctx, p, theirs); err != nil {
		return nil, err
	}
	fresh, err := s.fresh(ctx, p, &m, toCount, own, theirs)
	if err != nil {
		return nil, err
	}
	out.Unpushed += len(fresh.puts)
	out.Epoch, out.Size = len(p.epoch), s.size(p.state)
	out.Quarantined, out.Junk = append(out.Quarantined, p.listQuarantined()...), len(p.junk())
	out.Held = append(out.Held, byName(p.held)...)
	out.Unfit = append(out.Unfit, m.Unfit...)
	out.Who = s.me(ctx)
	out.Mine, out.Why = p.mine(out.Who, m.Unfit), s.untrusted(out.Who)
	return out, nil
}
