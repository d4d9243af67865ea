package share

import (
	"context"
	"maps"
	"slices"

	"ken/internal/repo"
)

// A relation is how two epochs stand to each other.
type relation int

const (
	same relation = iota
	older
	newer
	apart // each has dropped what the other has not
)

// relate compares the lists of what was dropped of two tips.
func relate(a, b []Name) relation {
	within := func(a, b []Name) bool {
		return !slices.ContainsFunc(a, func(n Name) bool { return !slices.Contains(b, n) })
	}
	switch ab, ba := within(a, b), within(b, a); {
	case ab && ba:
		return same
	case ab:
		return older
	case ba:
		return newer
	}
	return apart
}

// A plan is what is to become of a ledger.
type plan struct {
	*state         // as it will be; its tip is the one to use, if no commit is needed
	commit  Commit // as far as it goes
	needed  bool   // a commit, for more than what is new in the store
	replace bool   // it does not follow on the remote's
	crossed bool   // this clone's epoch is not what it was
	reread  bool   // the store is to be compared with it from the beginning
	recount bool   // how much there is has to be counted
	dropped map[Name]bool
}

// join plans the union of this clone's ledger and a remote's.
//
// Within an epoch that is a commit on both. Across epochs it stands on the newer one
// alone, so that what was dropped can be forgotten by git too; and since it vouches for
// what it takes along, that is only what is trusted here.
func (s *Share) join(ctx context.Context, own *state, theirs *examined) (*plan, error) {
	p, err := s.joined(ctx, own, theirs)
	if err == nil {
		p.reread = p.crossed || theirs.cleared
	}
	return p, err
}

func (s *Share) joined(ctx context.Context, own *state, theirs *examined) (*plan, error) {
	p := &plan{state: theirs.state, dropped: theirs.dropped}
	if own.tip.IsZero() {
		return p, nil
	}
	p.recount = len(theirs.lacking) > 0
	switch relate(own.epoch, theirs.epoch) {
	case same:
		p.commit.Parents = []repo.ID{theirs.tip, own.tip}
		p.carry(own, theirs.lacking, true)
	case older:
		p.crossed = true
		p.commit.Parents = []repo.ID{theirs.tip}
		p.carry(own, theirs.lacking, false)
	case newer:
		dropped, err := s.droppedBy(ctx, own)
		if err != nil {
			return nil, err
		}
		*p = plan{state: own.clone(), dropped: dropped, replace: true, recount: true}
		p.refused = theirs.refused
		p.commit.Parents = []repo.ID{own.tip}
		p.carry(theirs.state, theirs.added, false)
	case apart:
		return s.joinApart(ctx, own, theirs)
	}
	return p, nil
}

// carry takes records of another state along, those that were held back only if who
// brought them stays in sight.
func (p *plan) carry(from *state, list []found, held bool) {
	for _, f := range list {
		h, back := from.held[f.name]
		if p.dropped[f.name] || back && !held {
			continue
		}
		if back {
			p.held[f.name] = h
		}
		delete(p.quarantined, f.name.Path())
		p.commit.Put = append(p.commit.Put, Put{Path: f.name.Path(), ID: f.id})
		p.needed = true
	}
}

// joinApart begins anew, with both lists of what was dropped.
func (s *Share) joinApart(ctx context.Context, own *state, theirs *examined) (*plan, error) {
	mine, err := s.ledger.Layout(ctx, own.tip)
	if err != nil {
		return nil, err
	}
	dropped, err := s.droppedBy(ctx, own)
	if err != nil {
		return nil, err
	}
	p := &plan{state: theirs.clone(), dropped: maps.Clone(theirs.dropped), needed: true, replace: true, crossed: true, recount: true}
	maps.Copy(p.dropped, dropped)
	lists := make(map[Name]repo.ID)
	for _, n := range theirs.epoch {
		lists[n] = theirs.layout.Dropped[n]
	}
	for _, n := range own.epoch {
		lists[n] = mine.Dropped[n]
	}
	if err := s.anew(ctx, p, theirs.layout.Records, theirs.tip, lists, dropped); err != nil {
		return nil, err
	}
	p.carry(own, theirs.lacking, false)
	return p, nil
}

// anew plans a tip that follows on none: the records of one, without those that were
// dropped, held back or quarantined.
func (s *Share) anew(ctx context.Context, p *plan, records, tip repo.ID, lists map[Name]repo.ID, drop map[Name]bool) error {
	p.commit.Parents = nil
	if !records.IsZero() {
		p.commit.Trees = map[string]repo.ID{recordsDir: records}
	}
	p.commit.Put = append(p.commit.Put, Put{Path: formatFile, Data: []byte(formatText)})
	p.epoch = slices.SortedFunc(maps.Keys(lists), func(a, b Name) int { return slices.Compare(a[:], b[:]) })
	for _, n := range p.epoch {
		p.commit.Put = append(p.commit.Put, Put{Path: listPath(n), ID: lists[n]})
	}
	gone := make(map[repo.Path]bool)
	var paths []repo.Path
	for n := range drop {
		paths = append(paths, n.Path())
	}
	there, err := s.ledger.Have(ctx, paths, tip)
	if err != nil {
		return err
	}
	for i, path := range paths {
		if there[i] {
			gone[path] = true
		}
	}
	for n := range p.held {
		gone[n.Path()] = true
	}
	for path := range p.quarantined {
		if path.Under(recordsDir) {
			gone[path] = true
		}
	}
	p.commit.Remove = slices.Sorted(maps.Keys(gone))
	clear(p.held)
	clear(p.quarantined)
	clear(p.doubted)
	return nil
}

// droppedBy reads what a state's epoch has dropped.
func (s *Share) droppedBy(ctx context.Context, st *state) (map[Name]bool, error) {
	dropped := make(map[Name]bool)
	if len(st.epoch) == 0 {
		return dropped, nil
	}
	lay, err := s.ledger.Layout(ctx, st.tip)
	if err != nil {
		return nil, err
	}
	ids := make([]repo.ID, len(st.epoch))
	for i, n := range st.epoch {
		ids[i] = lay.Dropped[n]
	}
	missing := 0
	err = s.ledger.EachBlob(ctx, ids, func(_ int, content []byte, size int64) {
		if size < 0 || !decodeList(content, dropped) {
			missing++
		}
	})
	if err == nil && missing > 0 {
		err = notHere(missing)
	}
	return dropped, err
}
