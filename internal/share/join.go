package share

import (
	"context"
	"errors"
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
	vouches bool   // a commit of it brings something, and it matters who made it
	recount bool   // how much there is has to be counted
	letGo
}

// A letGo are the names of records on lists.
type letGo struct {
	dropped map[Name]bool // they count no more
	// doubtful are on lists that nobody trusted has brought. These take nothing away; but
	// no store brings back what is on them.
	doubtful map[Name]bool
}

// and returns the names on the lists of both.
func (l letGo) and(o letGo) letGo {
	both := letGo{maps.Clone(l.dropped), maps.Clone(l.doubtful)}
	maps.Copy(both.dropped, o.dropped)
	maps.Copy(both.doubtful, o.doubtful)
	return both
}

// join plans the union of this clone's ledger and a remote's.
//
// Within an epoch that is a commit on both, unless one is the union already. Across epochs
// it stands on the newer one alone, so that what was dropped can be forgotten by git too;
// unless it takes along what is held back, which is vouched for by nothing but the history
// that brought it.
func (s *Share) join(ctx context.Context, own *state, theirs *examined) (*plan, error) {
	p, err := s.joined(ctx, own, theirs)
	if err == nil {
		p.reread = p.crossed || theirs.cleared
	}
	return p, err
}

func (s *Share) joined(ctx context.Context, own *state, theirs *examined) (*plan, error) {
	p := &plan{state: theirs.state, letGo: theirs.letGo}
	if own.tip.IsZero() {
		return p, nil
	}
	mine, err := s.ledger.Layout(ctx, own.tip)
	if err != nil {
		return nil, err
	}
	lists, err := s.lists(ctx, own)
	if err != nil {
		return nil, err
	}
	lists.doubtful = lists.and(theirs.letGo).doubtful
	p.doubtful = lists.doubtful
	p.recount = len(theirs.lacking) > 0
	switch relate(own.epoch, theirs.epoch) {
	case same:
		err = s.joinSame(ctx, p, own, mine, lists, theirs)
	case older:
		p.crossed = true
		p.commit.Parents = []repo.ID{theirs.tip}
		both := p.carry(own, theirs.lacking, mine)
		if !both {
			both, err = s.leans(ctx, theirs)
		}
		if both {
			p.commit.Parents = append(p.commit.Parents, own.tip)
			p.needed = true
		}
	case newer:
		*p = plan{state: own.clone(), letGo: lists, replace: true, recount: true}
		p.refused = theirs.refused
		p.commit.Parents = []repo.ID{own.tip}
		both := p.carry(theirs.state, theirs.added, theirs.layout)
		for _, n := range theirs.taken {
			if _, was := own.held[n]; was {
				delete(p.held, n) // theirs knows of somebody trusted who brought it
				both = true
			}
		}
		if both {
			p.commit.Parents = append(p.commit.Parents, theirs.tip)
			p.needed = true
		}
	case apart:
		return s.joinApart(ctx, own, mine, lists, theirs)
	}
	return p, err
}

// joinSame goes on with one of two tips of an epoch, if that leads to the other and has all
// that it has, else with a commit on both.
func (s *Share) joinSame(ctx context.Context, p *plan, own *state, mine Layout, lists letGo, theirs *examined) (err error) {
	p.commit.Parents = []repo.ID{theirs.tip, own.tip}
	p.carry(own, theirs.lacking, mine)
	if !p.needed && !s.opts.Policy.all() {
		// Somebody may have begun anew, and brought in their own name what others had.
		p.needed, err = s.strays(ctx, own.tip, theirs.tip)
	}
	if err != nil || !p.needed || !own.covers(theirs) {
		return err
	}
	// It may be what an earlier pull has joined, and nobody has pushed yet.
	more, err := s.strays(ctx, theirs.tip, own.tip)
	if err == nil && !more {
		*p = plan{state: own.clone(), letGo: lists}
	}
	return err
}

// leans reports whether a tip has records that are trusted here only for who brought them to
// the history it is compared with: its own names nobody who is trusted.
func (s *Share) leans(ctx context.Context, ex *examined) (bool, error) {
	p := s.opts.Policy
	if p.all() {
		return false, nil
	}
	changes, err := s.ledger.Differences(ctx, repo.ID{}, ex.tip)
	if err != nil {
		return false, err
	}
	left := make(map[repo.Path]bool)
	for _, c := range changes {
		n, ok := recordAt(c.Path)
		if _, held := ex.held[n]; ok && !held && !ex.dropped[n] && ex.quarantined[c.Path] == "" {
			left[c.Path] = true
		}
	}
	err = s.ledger.Introductions(ctx, ex.tip, repo.ID{}, p.Trust == Signed, func(v Voucher, changes []repo.Change) error {
		if p.Trusts(v) == "" {
			for _, c := range changes {
				delete(left, c.Path)
			}
		}
		return nil
	})
	return len(left) > 0, err
}

// strays reports whether a history has what another does not lead to.
func (s *Share) strays(ctx context.Context, tip, other repo.ID) (bool, error) {
	found := errors.New("found")
	err := s.ledger.Introductions(ctx, tip, other, false, func(Voucher, []repo.Change) error { return found })
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
}

// covers reports whether a state has all that one of its epoch has which was compared with it.
func (st *state) covers(ex *examined) bool {
	for n := range ex.doubted {
		if _, there := st.doubted[n]; !there {
			return false
		}
	}
	return len(ex.added)+len(ex.taken) == 0
}

// carry takes records of another state along, and lists that nobody trusted has brought.
// It reports whether any of it is held back: who brought it has to stay in sight then.
func (p *plan) carry(from *state, list []found, lay Layout) (held bool) {
	for _, f := range list {
		if p.dropped[f.name] {
			continue
		}
		if h, back := from.held[f.name]; back {
			p.held[f.name], p.refused[f.name] = h, h
			held = true
		}
		delete(p.quarantined, f.name.Path())
		p.commit.Put = append(p.commit.Put, Put{Path: f.name.Path(), ID: f.id})
		p.needed = true
	}
	for n, h := range from.doubted {
		if _, there := p.doubted[n]; there || slices.Contains(p.epoch, n) {
			continue
		}
		p.doubted[n], p.quarantined[listPath(n)] = h, h.asList()
		p.commit.Put = append(p.commit.Put, Put{Path: listPath(n), ID: lay.Dropped[n]})
		p.needed, held = true, true
	}
	return held
}

// joinApart begins anew, with both lists of what was dropped.
func (s *Share) joinApart(ctx context.Context, own *state, mine Layout, went letGo, theirs *examined) (*plan, error) {
	p := &plan{state: theirs.clone(), letGo: theirs.and(went), needed: true, replace: true, crossed: true, recount: true}
	lists := make(map[Name]repo.ID)
	for _, n := range theirs.epoch {
		lists[n] = theirs.layout.Dropped[n]
	}
	for _, n := range own.epoch {
		lists[n] = mine.Dropped[n]
	}
	if err := s.anew(ctx, p, theirs.layout, theirs.tip, lists, p.dropped); err != nil {
		return nil, err
	}
	// What stands on one history is vouched for by none but that.
	if p.carry(own, theirs.lacking, mine) || len(p.commit.Parents) > 0 {
		p.commit.Parents = []repo.ID{theirs.tip, own.tip}
	}
	return p, nil
}

// anew plans a tip that begins with nothing: the records of another, without those that
// were dropped or quarantined. It follows on that only if something of it is held back,
// or of a newer ken's: what is trusted here the new one vouches for itself.
func (s *Share) anew(ctx context.Context, p *plan, from Layout, tip repo.ID, lists map[Name]repo.ID, drop map[Name]bool) error {
	p.commit.Parents, p.commit.Afresh = nil, true
	if !from.Records.IsZero() {
		p.commit.Trees = map[string]repo.ID{recordsDir: from.Records}
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
		delete(p.held, n)
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
	later := 0
	for path, why := range p.quarantined {
		switch {
		case !path.Under(recordsDir):
		case byNewer(why) && !gone[path]:
			later++
			continue
		default:
			gone[path] = true
		}
		delete(p.quarantined, path)
	}
	p.commit.Remove = slices.Sorted(maps.Keys(gone))
	for n, h := range p.doubted {
		if lists[n].IsZero() {
			p.commit.Put = append(p.commit.Put, Put{Path: listPath(n), ID: from.Dropped[n]})
			p.quarantined[listPath(n)] = h.asList()
		} else {
			delete(p.doubted, n)
		}
	}
	if len(p.held)+len(p.doubted) > 0 || later > 0 && !s.opts.Policy.all() {
		p.commit.Parents = []repo.ID{tip}
	}
	return nil
}

// lists reads the lists of a state.
func (s *Share) lists(ctx context.Context, st *state) (letGo, error) {
	out := letGo{make(map[Name]bool), make(map[Name]bool)}
	if len(st.epoch)+len(st.doubted) == 0 {
		return out, nil
	}
	lay, err := s.ledger.Layout(ctx, st.tip)
	if err != nil {
		return out, err
	}
	var ids []repo.ID
	for _, n := range st.epoch {
		ids = append(ids, lay.Dropped[n])
	}
	for n := range st.doubted {
		ids = append(ids, lay.Dropped[n])
	}
	missing := 0
	err = s.ledger.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
		into := out.dropped
		if i >= len(st.epoch) {
			into = out.doubtful
		}
		if size < 0 || !decodeList(content, into) {
			missing++
		}
	})
	if err == nil && missing > 0 {
		err = notHere(missing)
	}
	return out, err
}
