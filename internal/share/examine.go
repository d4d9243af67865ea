package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// An examined is the state of a tip, and how it differs from one that was known.
type examined struct {
	*state
	layout  Layout
	added   []found
	lacking []found         // what the other has, and this has not or not any more sound; of no size
	letGo                   // by its lists, and what the other's epoch has dropped if that is no older
	taken   []Name          // over into the store
	authors map[Name]string // of those, as they are said to be
	cleared bool            // somebody trusted has brought what was refused
}

// A found is a record of a ledger that is sound.
type found struct {
	name Name
	id   repo.ID // of its content
	size int64
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
	ex := &examined{state: known.clone(), layout: lay, authors: make(map[Name]string)}
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
	if ex.letGo, err = s.readLists(ctx, known, ex, vouch); err != nil {
		return nil, err
	}
	if r := relate(known.epoch, ex.epoch); r == newer || r == apart {
		// Somebody has put back what was dropped.
		lists, err := s.lists(ctx, known)
		if err != nil {
			return nil, err
		}
		maps.Copy(ex.dropped, lists.dropped)
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

// readLists finds the epoch of a tip, and returns what is on its lists.
func (s *Share) readLists(ctx context.Context, known *state, ex *examined, v *vouchers) (letGo, error) {
	names := slices.SortedFunc(maps.Keys(ex.layout.Dropped), func(a, b Name) int { return slices.Compare(a[:], b[:]) })
	ids := make([]repo.ID, len(names))
	for i, n := range names {
		ids[i] = ex.layout.Dropped[n]
	}
	out := letGo{make(map[Name]bool), make(map[Name]bool)}
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
			ex.quarantined[listPath(n)] = h.asList()
			maps.Copy(out.doubtful, list)
		default:
			delete(ex.quarantined, listPath(n))
			ex.epoch = append(ex.epoch, n)
			maps.Copy(out.dropped, list)
		}
	})
	if err == nil && missing > 0 {
		err = notHere(missing)
	}
	return out, err
}

func notHere(n int) error {
	return &fault.Error{Hint: "git fsck", Err: fmt.Errorf("%d objects of it are not here", n)}
}

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
		r, err := readRecord(n, content, size, s.opts.Now())
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
			if first, was := ex.refused[n]; was {
				if h.Here = first.Here; !blamed || first.before(h) {
					h = first
				}
			}
			ex.held[n], ex.refused[n] = h, h
		default:
			if _, was := ex.refused[n]; was {
				ex.cleared = true
			}
			delete(ex.held, n)
			delete(ex.refused, n)
			ex.taken = append(ex.taken, n)
			if r.File != nil || !r.Directory.Outlined() {
				ex.authors[n] = r.Author()
			}
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

// batch is how many records are taken over at once.
const batch = 2000

// readRecord reads what lies at the place of a record.
func readRecord(n Name, content []byte, size int64, now time.Time) (Record, error) {
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
	return r, r.Check(now)
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
				h := Held{Name: name, Who: who.Committer, Commit: who.Commit, At: who.At, Reason: why}
				if first, ok := v.blame[c.Path]; !ok || h.before(first) {
					v.blame[c.Path] = h
				}
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
	for n, h := range ex.held {
		if id, ok := v.good[n.Path()]; ok && read[n].IsZero() {
			read[n] = id
		}
		if other, ok := v.blame[n.Path()]; ok && other.before(h) {
			other.Here = h.Here
			ex.held[n], ex.refused[n] = other, other
		}
	}
	return v, nil
}
