package share

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/repo"
)

// A Dropped is a record that a new epoch lets go.
type Dropped struct {
	Name  Name   `json:"name"`
	About string `json:"about"` // file or directory
	repo.PathJSON
	Author string    `json:"author"`
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	Reason string    `json:"reason"`

	outlined bool
	rank     int
	height   int // of a directory, above the lowest that a text is about
}

const aboutDirectory = "directory"

// The order in which records are let go.
const (
	supersededOutline = iota
	supersededText
	anyOutline
	anyDirectory
	anyText
)

var ranks = [...]string{"a later outline of it is kept", "a later text about it is kept", "an outline can be made again", "it stands on texts below it", "it is one of the oldest"}

func dropped(r Record, n Name, size int64) Dropped {
	d := Dropped{Name: n, About: "file", PathJSON: r.Path().JSON(), Author: r.Author(), At: r.At(), Bytes: size}
	if r.Directory != nil {
		d.About, d.outlined = aboutDirectory, r.Directory.Outlined()
	}
	return d
}

// choose returns what is let go so that what remains has no more bytes than room: first
// outlines and then texts that a later one followed at the same place, then outlines,
// which cost nothing to make again, then texts about directories, those above before those
// below, then the oldest. A text about a directory holds only while those below it do, and
// a survey writes them first: if the oldest went first, nothing that is left would hold.
func choose(all []Dropped, room int64) []Dropped {
	type place struct {
		about    string
		path     repo.PathJSON
		outlined bool
	}
	older := func(a, b Dropped) int { return cmp.Or(a.At.Compare(b.At), bytes.Compare(a.Name[:], b.Name[:])) }
	newest := make(map[place]int)
	total := int64(0)
	for i, d := range all {
		total += d.Bytes
		at := place{d.About, d.PathJSON, d.outlined}
		if k, ok := newest[at]; !ok || older(all[k], d) < 0 {
			newest[at] = i
		}
	}
	high := heights(all)
	list := slices.Clone(all)
	for i := range list {
		d := &list[i]
		last := newest[place{d.About, d.PathJSON, d.outlined}] == i
		switch {
		case d.outlined && !last:
			d.rank = supersededOutline
		case !last:
			d.rank = supersededText
		case d.outlined:
			d.rank = anyOutline
		case d.About == aboutDirectory:
			d.rank, d.height = anyDirectory, high[d.PathJSON]
		default:
			d.rank = anyText
		}
		if d.Reason = ranks[d.rank]; d.rank == anyDirectory && d.height == 0 {
			d.Reason = ranks[anyText]
		}
	}
	slices.SortFunc(list, func(a, b Dropped) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.height, a.height), older(a, b))
	})
	n := 0
	for ; n < len(list) && total > room; n++ {
		total -= list[n].Bytes
	}
	return list[:n]
}

// heights returns how far directories are above the lowest below them that there is a text
// about.
func heights(all []Dropped) map[repo.PathJSON]int {
	high := make(map[repo.PathJSON]int)
	for _, d := range all {
		dir, err := d.Raw()
		if d.About != aboutDirectory || d.outlined || err != nil {
			continue
		}
		for n := 0; ; n++ {
			high[dir.JSON()] = max(high[dir.JSON()], n)
			if dir == "" {
				break
			}
			dir = dir.Dir()
		}
	}
	return high
}

// maxList is how many names one list has: as many as can be read at once.
const maxList = 50_000

// junk returns the files of a state that a new epoch is begun to be rid of. What a newer ken
// wrote is none of them, nor are lists that are not trusted here: there are those who can
// read it, and those who trust them.
func (st *state) junk() []Quarantined {
	return slices.DeleteFunc(st.listQuarantined(), func(q Quarantined) bool {
		if byNewer(q.Reason) {
			return true
		}
		path, _ := q.Raw()
		n, list := listAt(path)
		_, doubted := st.doubted[n]
		return list && doubted
	})
}

func byNewer(reason string) bool { return strings.HasPrefix(reason, ErrNewer.Error()) }

// prune begins a new epoch, if there is more than the budget allows or what is of no use,
// and returns what that drops, and the junk that it leaves behind.
func (s *Share) prune(ctx context.Context, p *plan) ([]Dropped, []Quarantined, error) {
	junk := p.junk()
	if p.tip.IsZero() || !s.size(p.state).Over() && len(junk) == 0 {
		return nil, nil, nil
	}
	if who := s.me(ctx); s.untrusted(who) != "" {
		// It would bring everything in the name of one who is not trusted, and drop nothing.
		return nil, nil, notTrusted(who, "begin a new epoch", s.untrusted(who))
	}
	gone, err := s.excess(ctx, p)
	if err != nil || len(gone)+len(junk) == 0 {
		return nil, nil, err // it is what is held back that is too much, which others may trust
	}
	return gone, junk, s.begin(ctx, p, gone)
}

// excess returns the records that are to be dropped, so that there is room.
func (s *Share) excess(ctx context.Context, p *plan) ([]Dropped, error) {
	if !s.size(p.state).Over() {
		return nil, nil
	}
	changes, err := s.ledger.Differences(ctx, repo.ID{}, p.tip)
	if err != nil {
		return nil, err
	}
	var names []Name
	var ids []repo.ID
	for _, c := range changes {
		n, ok := recordAt(c.Path)
		if _, held := p.held[n]; ok && !held && !p.dropped[n] && p.quarantined[c.Path] == "" {
			names, ids = append(names, n), append(ids, c.New)
		}
	}
	var all []Dropped
	missing := 0
	err = s.ledger.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
		if r, err := readRecord(names[i], content, size, s.opts.Now()); err == nil {
			all = append(all, dropped(r, names[i], size))
		} else {
			missing++
		}
	})
	if err == nil && missing > 0 {
		err = notHere(missing)
	}
	if err != nil {
		return nil, err
	}
	// Some room is made, or the next push would be too much again.
	return choose(all, s.opts.Policy.budget()*3/4), nil
}

// begin begins a new epoch: the records of a plan that are sound, those that are held back
// among them, but for some.
func (s *Share) begin(ctx context.Context, p *plan, gone []Dropped) error {
	old := p.tip
	lay, err := s.ledger.Layout(ctx, old)
	if err != nil {
		return err
	}
	lists := make(map[Name]repo.ID)
	for _, n := range p.epoch {
		lists[n] = lay.Dropped[n]
	}
	next := make([]Name, len(gone))
	for i, d := range gone {
		next[i] = d.Name
	}
	slices.SortFunc(next, func(a, b Name) int { return bytes.Compare(a[:], b[:]) })
	without := maps.Clone(p.dropped) // those too that somebody has put back
	for _, n := range next {
		without[n] = true
	}
	if err := s.anew(ctx, p, lay, old, lists, without); err != nil {
		return err
	}
	if len(next) == 0 {
		// An epoch is known by its lists. This names no record, and no other epoch has it.
		next = []Name{NameOf([]byte(old.String()))}
	}
	for part := range slices.Chunk(next, maxList) {
		data := encodeList(part)
		n := NameOf(data)
		p.epoch = append(p.epoch, n)
		p.commit.Put = append(p.commit.Put, Put{Path: listPath(n), Data: data})
	}
	slices.SortFunc(p.epoch, func(a, b Name) int { return bytes.Compare(a[:], b[:]) })
	p.dropped, p.replace = without, true
	what := "junk"
	if len(gone) > 0 {
		what = counted(len(gone))
	}
	if err := s.commit(ctx, p, fmt.Sprintf("ken: a new epoch, without %s", what), vouching); err != nil {
		return err
	}
	return s.count(ctx, p.state)
}
