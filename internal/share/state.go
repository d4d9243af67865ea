package share

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A state is a tip, and what is known of it.
type state struct {
	tip         repo.ID
	epoch       []Name // sorted
	quarantined map[repo.Path]string
	held        map[Name]Held
	// refused are all that were ever held back and nobody trusted has brought since: what
	// is held, and what was before the ledger was begun anew or a list let it go.
	refused map[Name]Held
	doubted map[Name]Held // lists of what was dropped, which nobody trusted has brought
	records int
	bytes   int64
}

func (st *state) clone() *state {
	c := *st
	c.epoch = slices.Clone(st.epoch)
	c.quarantined, c.held, c.refused = maps.Clone(st.quarantined), maps.Clone(st.held), maps.Clone(st.refused)
	c.doubted = maps.Clone(st.doubted)
	return &c
}

// newState returns that of no tip. What was refused stays so.
func newState(m Memory) *state {
	st := &state{quarantined: make(map[repo.Path]string), held: make(map[Name]Held), refused: make(map[Name]Held), doubted: make(map[Name]Held)}
	for _, h := range slices.Concat(m.Refused, m.Held) {
		st.refused[h.Name] = h
	}
	return st
}

// recall returns the state that a memory is about.
func recall(m Memory) *state {
	st := newState(m)
	st.tip, st.epoch, st.records, st.bytes = m.Tip, m.Epoch, m.Records, m.Bytes
	for _, q := range m.Quarantined {
		if p, err := q.Raw(); err == nil {
			st.quarantined[p] = q.Reason
		}
	}
	for _, h := range m.Held {
		st.held[h.Name] = h
	}
	for _, h := range m.Doubted {
		st.doubted[h.Name] = h
	}
	return st
}

// remember puts the state into a memory.
func (st *state) remember(m *Memory) {
	m.Tip, m.Epoch, m.Records, m.Bytes = st.tip, st.epoch, st.records, st.bytes
	m.Quarantined = st.listQuarantined()
	m.Held, m.Doubted = byName(st.held), byName(st.doubted)
	gone := maps.Clone(st.refused)
	maps.DeleteFunc(gone, func(n Name, _ Held) bool { _, still := st.held[n]; return still })
	m.Refused = byName(gone)
}

func (st *state) listQuarantined() []Quarantined {
	var list []Quarantined
	for _, p := range slices.Sorted(maps.Keys(st.quarantined)) {
		list = append(list, Quarantined{p.JSON(), st.quarantined[p]})
	}
	return list
}

// byName returns them in the order of their names.
func byName(held map[Name]Held) []Held {
	list := slices.Collect(maps.Values(held))
	slices.SortFunc(list, func(a, b Held) int { return slices.Compare(a.Name[:], b.Name[:]) })
	return list
}

// settled returns the state of this clone's tip: what is remembered, if that is about
// it, else what is found by looking at all of it. It returns how many records the store
// got by that: all that it may not have, if nobody remembers.
func (s *Share) settled(ctx context.Context, m *Memory, own repo.ID, absorb bool) (*state, int, error) {
	none := newState(*m)
	var had *state // what the store has, but for what was not taken over
	if m.Version == memoryVersion && m.Tip == own {
		kept, err := s.still(ctx, m.Store, m.Mark)
		if err != nil {
			return nil, 0, err
		}
		if kept {
			had = recall(*m)
		}
		if kept && m.Policy == s.opts.Policy.key() {
			stands, err := s.rejudge(ctx, had)
			if err != nil || !stands {
				return had, 0, err
			}
		}
	}
	*m = Memory{Version: memoryVersion, Policy: s.opts.Policy.key(), Fetched: m.Fetched}
	if own.IsZero() {
		return none, 0, nil
	}
	ex, err := s.examine(ctx, none, own, absorb)
	if err != nil {
		return nil, 0, &fault.Error{
			Hint: "if it is of no use, forget it and begin again: git update-ref -d refs/ken/knowledge",
			Err:  fmt.Errorf("read the knowledge of this clone: %w", err),
		}
	}
	taken := ex.taken
	switch {
	case had != nil:
		taken = slices.DeleteFunc(taken, had.took)
	case !absorb:
		taken = nil // nobody knows what the store has
	}
	return ex.state, len(taken), nil
}

// took reports whether a record that the tip has was taken over.
func (st *state) took(n Name) bool {
	_, held := st.held[n]
	return !held && st.quarantined[n.Path()] == ""
}

// samples is how many commits of somebody are looked at again: each takes milliseconds.
const samples = 16

// rejudge reports whether somebody is trusted by now who was not. Whom a signature belongs
// to is for git to say, and it is told without a change of the policy.
func (s *Share) rejudge(ctx context.Context, st *state) (bool, error) {
	if s.opts.Policy.Trust != Signed {
		return false, nil
	}
	seen := make(map[repo.ID]bool)
	of := make(map[string]int)
	var ask []repo.ID
	for _, h := range slices.Concat(byName(st.held), byName(st.doubted)) {
		if h.Commit.IsZero() || seen[h.Commit] || of[h.Who] == samples {
			continue
		}
		seen[h.Commit] = true
		of[h.Who]++
		ask = append(ask, h.Commit)
	}
	if len(ask) == 0 {
		return false, nil
	}
	list, err := s.ledger.Verify(ctx, ask)
	return slices.ContainsFunc(list, func(v Voucher) bool { return s.opts.Policy.Trusts(v) == "" }), err
}

// still reports whether marks are those of the store, which may be another one by now.
func (s *Share) still(ctx context.Context, marks ...Mark) (bool, error) {
	for _, mark := range marks {
		if _, now, err := s.store.Since(ctx, mark, 0); err != nil || mark != "" && now != mark {
			return false, err
		}
	}
	return true, nil
}
