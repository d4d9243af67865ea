package derive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// A VersionRow is one version of a node.
type VersionRow struct {
	Commit  repo.ID
	Path    repo.Path   // the path of the spec file in the commit
	From    []repo.Path // the paths that the commit moved it from
	Date    string      // RFC 3339
	Subject string
	Session *string // nil without one
}

// A version is a commit that changed the content of a node's spec file.
type version struct {
	commit repo.CommitNumber
	path   repo.Path    // the path of the spec file in the commit
	from   []repo.Path  // the paths that the commit moved it from
	before []commitPath // for a merge: the other paths of the spec in its parents
}

// findVersions finds the versions of every node, and the acks that may name it.
func (d *derivation) findVersions(ctx context.Context) error {
	t := d.moveTracker
	var moved []*nodeState
	for _, s := range d.states {
		if t.involves(s.node.Path) {
			moved = append(moved, s)
			continue
		}
		d.takeVersions(s, s.node.Path, func(repo.Touch) bool { return true })
		for _, a := range d.acksByPath[s.node.Path] {
			s.claims = append(s.claims, &claim{ack: a, path: s.node.Path})
		}
	}
	if err := t.follow(ctx, moved); err != nil {
		return err
	}
	if err := d.judgeVersions(ctx); err != nil {
		return err
	}
	for _, s := range d.states {
		slices.SortStableFunc(s.versions, func(a, b version) int { return cmp.Compare(a.commit, b.commit) })
		s.versions = slices.CompactFunc(s.versions, func(a, b version) bool { return a.commit == b.commit })
		if d.gap == "" {
			continue
		}
		// A commit without known parents seems to add every file.
		s.olderUnknown = len(s.versions) > 0 || len(s.unsureVersions) > 0
		s.versions = slices.DeleteFunc(s.versions, func(v version) bool { return len(d.g.parentsOf(v.commit)) == 0 })
	}
	return nil
}

// takeVersions adds the commits that edited a path and for which counts returns true to the versions of a node.
func (d *derivation) takeVersions(s *nodeState, path repo.Path, counts func(repo.Touch) bool) {
	for _, t := range d.h.Touching(path) {
		if t.Edits() && d.g.Has(t.Commit) && counts(t) {
			s.versions = append(s.versions, version{commit: t.Commit, path: path})
		}
	}
}

// commits returns the numbers of a node's versions, ascending.
func (s *nodeState) commits() []repo.CommitNumber {
	list := make([]repo.CommitNumber, len(s.versions))
	for i, v := range s.versions {
		list[i] = v.commit
	}
	return list
}

// at returns the version of a commit.
func (s *nodeState) at(c repo.CommitNumber) version {
	i, _ := slices.BinarySearchFunc(s.versions, c, func(v version, c repo.CommitNumber) int { return cmp.Compare(v.commit, c) })
	return s.versions[i]
}

// rowsOf returns the versions of a node, newest first.
func (d *derivation) rowsOf(s *nodeState) []VersionRow {
	rows := make([]VersionRow, len(s.rows))
	for i, c := range s.rows {
		commit := d.h.Commit(c)
		v := s.at(c)
		rows[i] = VersionRow{
			Commit: commit.ID, Path: v.path, From: v.from, Date: commit.Date, Subject: commit.Subject,
			Session: Session(commit.Trailers),
		}
	}
	return rows
}

// The trailers that ken reads and writes.
const (
	TrailerSession = "Session"
	TrailerAck     = "Spec-OK"
	TrailerBasis   = "Spec-OK-Basis"
)

// HistoryFilter returns the trailers and moves that the history index must keep for specs.
func HistoryFilter() repo.HistoryFilter {
	return repo.HistoryFilter{
		Trailers: []string{TrailerSession, TrailerAck, TrailerBasis, TrailerLost},
		Read:     ackTrailers,
		Marker:   TrailerAck,
		MoveDir:  parse.Root,
		MoveName: parse.FileName,
	}
}

// Session returns the session that the trailers of a commit name, nil without one. The last trailer with a value
// counts, as in git interpret-trailers; earlier ones come from squashed messages.
func Session(trailers []repo.Trailer) *string {
	for _, t := range slices.Backward(trailers) {
		if value := strings.TrimSpace(t.Value); value != "" && strings.EqualFold(t.Key, TrailerSession) {
			return &value
		}
	}
	return nil
}

// order sorts the versions and acks of every node, newest first.
func (d *derivation) order(ctx context.Context) error {
	lists := make([][]repo.CommitNumber, 0, len(d.states))
	for _, s := range d.states {
		s.rows = s.commits()
		lists = append(lists, s.rows)
		var acks []repo.CommitNumber
		for _, c := range s.currentAcks {
			acks = append(acks, c.ack.commit)
		}
		slices.Sort(acks)
		lists = append(lists, slices.Compact(acks))
	}
	if err := d.newest(ctx, lists); err != nil {
		return err
	}
	for i, s := range d.states {
		if place := lists[2*i+1]; len(s.currentAcks) > 1 {
			slices.SortStableFunc(s.currentAcks, func(a, b *claim) int {
				return cmp.Or(
					cmp.Compare(slices.Index(place, a.ack.commit), slices.Index(place, b.ack.commit)),
					cmp.Compare(a.ack.nth, b.ack.nth),
				)
			})
		}
	}
	return nil
}

// newest sorts lists of commits by date, newest first, and by id for equal dates. A commit never comes after its
// ancestor, even if the clocks were wrong. Commit numbers do not matter, because they depend on how the history
// was read.
func (d *derivation) newest(ctx context.Context, lists [][]repo.CommitNumber) error {
	var unordered []*datedList // lists in which an ancestor may come before its descendant
	for _, list := range lists {
		if len(list) < 2 {
			continue
		}
		l := d.date(list)
		slices.SortFunc(l.items, func(a, b datedItem) int { return b.compare(a) })
		for i, it := range l.items {
			list[i] = it.commit
		}
		if !slices.IsSortedFunc(list, func(a, b repo.CommitNumber) int { return cmp.Compare(b, a) }) {
			unordered = append(unordered, l)
		}
	}
	type single struct {
		in *datedList
		at int
	}
	var singles []single
	var sets [][]repo.CommitNumber
	for _, l := range unordered {
		for i, it := range l.items {
			singles = append(singles, single{l, i})
			sets = append(sets, []repo.CommitNumber{it.commit})
		}
	}
	err := d.g.eachReachSet(ctx, sets, func(v *reachSet) {
		for i := range v.sets {
			x := singles[v.first+i]
			for j, it := range x.in.items {
				if j != x.at && v.reaches(i, it.commit) {
					x.in.items[x.at].over = append(x.in.items[x.at].over, j)
				}
			}
		}
	})
	for _, l := range unordered {
		l.sortTopologically()
	}
	return err
}

// A datedList is a list of commits with their dates.
type datedList struct {
	list  []repo.CommitNumber
	items []datedItem
}

type datedItem struct {
	commit repo.CommitNumber
	date   time.Time
	id     repo.ID
	over   []int // indexes of its ancestors
}

func (a datedItem) compare(b datedItem) int {
	return cmp.Or(a.date.Compare(b.date), strings.Compare(string(a.id.Bytes()), string(b.id.Bytes())))
}

func (d *derivation) date(list []repo.CommitNumber) *datedList {
	l := &datedList{list: list, items: make([]datedItem, len(list))}
	for i, c := range list {
		commit := d.h.Commit(c)
		date, _ := time.Parse(time.RFC3339, commit.Date) // an invalid date counts as the oldest
		l.items[i] = datedItem{commit: c, date: date, id: commit.ID}
	}
	return l
}

// sortTopologically repeatedly appends the first item that has no descendant left.
func (l *datedList) sortTopologically() {
	waits := make([]int, len(l.items)) // the number of descendants that are not listed yet
	for _, it := range l.items {
		for _, j := range it.over {
			waits[j]++
		}
	}
	for at := range l.list {
		i := slices.Index(waits, 0)
		waits[i] = -1
		for _, j := range l.items[i].over {
			waits[j]--
		}
		l.list[at] = l.items[i].commit
	}
}
