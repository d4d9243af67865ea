package share

import (
	"context"
	"errors"
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
	// is held, and what was when an epoch left it behind.
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

// A found is a record of a ledger that is sound.
type found struct {
	name Name
	id   repo.ID // of its content
	size int64
}

// An examined is the state of a tip, and how it differs from one that was known.
type examined struct {
	*state
	layout  Layout
	added   []found
	lacking []found       // what the other has, and this has not or not any more sound; of no size
	dropped map[Name]bool // by its epoch
	taken   []Name        // over into the store
	cleared bool          // somebody trusted has brought what was refused
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

// examine looks at what a tip has and a known state has not, and takes it over into the
// store if that is wanted.
func (s *Share) examine(ctx context.Context, known *state, tip repo.ID, absorb bool) (*examined, error) {
	lay, err := s.ledger.Layout(ctx, tip)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(lay.Format); err != nil {
		return nil, err
	}
	changes, err := s.ledger.Differences(ctx, known.tip, tip)
	if err != nil {
		return nil, err
	}
	ex := &examined{state: known.clone(), layout: lay}
	ex.tip = tip
	lost := make(map[Name]repo.ID) // what known has at places that changed
	read := make(map[Name]repo.ID)
	for _, c := range changes {
		delete(ex.quarantined, c.Path)
		if n, ok := recordAt(c.Path); ok {
			if _, bad := known.quarantined[c.Path]; !c.Old.IsZero() && !bad {
				lost[n] = c.Old
			}
			switch {
			case c.New.IsZero():
				delete(ex.held, n)
			case c.NewMode != repo.Regular:
				ex.quarantined[c.Path] = "it is no plain file"
			default:
				read[n] = c.New
			}
			continue
		}
		if _, ok := listAt(c.Path); !ok && c.Path != formatFile && !c.New.IsZero() {
			ex.quarantined[c.Path] = "nothing of ken's belongs there"
		}
	}
	vouch, err := s.vouch(ctx, known, ex, read)
	if err != nil {
		return nil, err
	}
	if ex.dropped, err = s.readLists(ctx, known, ex, vouch); err != nil {
		return nil, err
	}
	if err := s.readRecords(ctx, ex, read, vouch, absorb); err != nil {
		return nil, err
	}
	for _, f := range ex.added {
		if _, changed := lost[f.name]; !changed {
			ex.records++
			ex.bytes += f.size
		}
		delete(lost, f.name)
	}
	for n, id := range lost {
		ex.lacking = append(ex.lacking, found{name: n, id: id})
	}
	slices.SortFunc(ex.lacking, func(a, b found) int { return slices.Compare(a.name[:], b.name[:]) })
	return ex, nil
}

func checkFormat(text string) error {
	var version int
	switch _, err := fmt.Sscanf(text, "ken knowledge %d\n", &version); {
	case text == formatText:
		return nil
	case err == nil && version > 1:
		return &fault.Error{Hint: "upgrade ken", Err: fmt.Errorf("it was written by a newer ken (layout %d; this one knows 1)", version)}
	}
	return errors.New("it is no knowledge of ken's: it has no file that says so")
}

// A voucher knows who has vouched for what.
type vouchers struct {
	all   bool // nobody need be asked
	good  map[repo.Path]repo.ID
	blame map[repo.Path]Held
}

// stands reports whether somebody who is trusted has brought the file at a path.
func (v *vouchers) stands(p repo.Path) bool {
	_, ok := v.good[p]
	return v.all || ok
}

// vouch finds out who brought what a tip has. What was held back, and is vouched for by
// now, is to be read too.
func (s *Share) vouch(ctx context.Context, known *state, ex *examined, read map[Name]repo.ID) (*vouchers, error) {
	p := s.opts.Policy
	v := &vouchers{all: p.all(), good: make(map[repo.Path]repo.ID), blame: make(map[repo.Path]Held)}
	if v.all {
		return v, nil
	}
	see := func(who Voucher, changes []repo.Change) error {
		why := p.Trusts(who)
		for _, c := range changes {
			switch {
			case c.New.IsZero():
			case why == "":
				v.good[c.Path] = c.New
			default:
				name, _ := recordAt(c.Path)
				v.blame[c.Path] = Held{Name: name, Who: who.Committer, Commit: who.Commit, Reason: why}
			}
		}
		return nil
	}
	verify := p.Trust == Signed
	if err := s.ledger.Introductions(ctx, ex.tip, known.tip, verify, see); err != nil {
		return nil, err
	}
	unseen := func(path repo.Path) bool { _, blamed := v.blame[path]; return !blamed && !v.stands(path) }
	missing := false
	for n := range read {
		missing = missing || unseen(n.Path())
	}
	for n := range ex.layout.Dropped {
		missing = missing || !slices.Contains(known.epoch, n) && unseen(listPath(n))
	}
	if missing && !known.tip.IsZero() {
		// What came back after it had gone was brought before what is known.
		if err := s.ledger.Introductions(ctx, ex.tip, repo.ID{}, verify, see); err != nil {
			return nil, err
		}
	}
	for n := range ex.held {
		if id, ok := v.good[n.Path()]; ok && read[n].IsZero() {
			read[n] = id
		}
	}
	return v, nil
}

// readLists finds the epoch of a tip, and returns what was dropped by it.
func (s *Share) readLists(ctx context.Context, known *state, ex *examined, v *vouchers) (map[Name]bool, error) {
	names := slices.SortedFunc(maps.Keys(ex.layout.Dropped), func(a, b Name) int { return slices.Compare(a[:], b[:]) })
	ids := make([]repo.ID, len(names))
	for i, n := range names {
		ids[i] = ex.layout.Dropped[n]
	}
	dropped := make(map[Name]bool)
	ex.epoch = nil
	clear(ex.doubted)
	missing := 0
	err := s.ledger.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
		n := names[i]
		switch list := make(map[Name]bool); {
		case size < 0:
			missing++
		case NameOf(content) != n || !decodeList(content, list):
			ex.quarantined[listPath(n)] = "it is no list of what was dropped, or not the one that it is named by"
		case !slices.Contains(known.epoch, n) && !v.stands(listPath(n)):
			h := v.blame[listPath(n)]
			h.Name = n
			ex.doubted[n] = h
			ex.quarantined[listPath(n)] = "a list of what was dropped, by " + h.Who + ": " + h.Reason
		default:
			delete(ex.quarantined, listPath(n))
			ex.epoch = append(ex.epoch, n)
			maps.Copy(dropped, list)
		}
	})
	if err == nil && missing > 0 {
		err = notHere(missing)
	}
	return dropped, err
}

func notHere(n int) error {
	return &fault.Error{Hint: "git fsck", Err: fmt.Errorf("%d objects of it are not here", n)}
}

// batch is how many records are taken over at once.
const batch = 2000

// readRecords reads records, and sorts them into those that are added, held back and
// quarantined.
func (s *Share) readRecords(ctx context.Context, ex *examined, read map[Name]repo.ID, v *vouchers, absorb bool) error {
	names := slices.SortedFunc(maps.Keys(read), func(a, b Name) int { return slices.Compare(a[:], b[:]) })
	ids := make([]repo.ID, len(names))
	for i, n := range names {
		ids[i] = read[n]
	}
	var list []Record
	var failed error
	flush := func() {
		if failed == nil && len(list) > 0 && absorb {
			failed = s.store.Absorb(ctx, list)
		}
		list = nil
	}
	missing := 0
	err := s.ledger.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
		n := names[i]
		if size < 0 {
			missing++
			return
		}
		r, err := readRecord(n, content, size)
		if err != nil {
			ex.quarantined[n.Path()] = err.Error()
			return
		}
		if _, was := ex.held[n]; !was {
			ex.added = append(ex.added, found{n, ids[i], size})
		}
		switch {
		case ex.dropped[n]:
		case !v.stands(n.Path()):
			h, blamed := v.blame[n.Path()]
			if !blamed {
				h = Held{Name: n, Reason: "nobody knows who brought it"}
			}
			ex.held[n], ex.refused[n] = h, h
		default:
			if _, was := ex.refused[n]; was {
				ex.cleared = true
			}
			delete(ex.held, n)
			delete(ex.refused, n)
			ex.taken = append(ex.taken, n)
			if list = append(list, r); len(list) == batch {
				flush()
			}
		}
	})
	flush()
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return err
	case missing > 0:
		return notHere(missing)
	}
	return nil
}

// readRecord reads what lies at the place of a record.
func readRecord(n Name, content []byte, size int64) (Record, error) {
	if size > MaxSize {
		return Record{}, fmt.Errorf("it has %d bytes, and %d is the most", size, MaxSize)
	}
	if NameOf(content) != n {
		return Record{}, errors.New("its content is not what it is named by")
	}
	r, err := Decode(content)
	if err != nil {
		return Record{}, err
	}
	return r, r.Check()
}
