package spec

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ken/internal/repo"
)

// A VersionRow is one version of a node.
type VersionRow struct {
	Commit  repo.ID
	Path    repo.Path   // of the spec file at the time
	From    []repo.Path // where the commit moved it from, if it did
	Date    string      // RFC 3339
	Subject string
	Session *string // nil for none
}

// A version is a commit that changed the content of a node's spec file.
type version struct {
	commit repo.CommitNumber
	path   repo.Path   // of the file at the time
	from   []repo.Path // where the commit moved it from
	before []spot      // of a merge: where the node was in its parents, at other paths
}

// findVersions finds the versions of every node, and which acks may be its own.
func (d *derivation) findVersions(ctx context.Context) error {
	t := d.trail
	var moved []*study
	for _, s := range d.studies {
		if t.involves(s.node.Path) {
			moved = append(moved, s)
			continue
		}
		d.takeVersions(s, s.node.Path, func(repo.Touch) bool { return true })
		for _, a := range d.rivals[s.node.Path] {
			s.claims = append(s.claims, &claim{ack: a, path: s.node.Path})
		}
	}
	if err := t.follow(ctx, moved); err != nil {
		return err
	}
	if err := d.judgeVersions(ctx); err != nil {
		return err
	}
	for _, s := range d.studies {
		slices.SortStableFunc(s.versions, func(a, b version) int { return cmp.Compare(a.commit, b.commit) })
		s.versions = slices.CompactFunc(s.versions, func(a, b version) bool { return a.commit == b.commit })
		if d.gap == "" {
			continue
		}
		// A commit whose parents are not known seems to add all there was.
		s.before = len(s.versions) > 0 || len(s.doubtful) > 0
		s.versions = slices.DeleteFunc(s.versions, func(v version) bool { return len(d.g.parentsOf(v.commit)) == 0 })
	}
	return nil
}

// takeVersions notes the commits that edited a path for a node's versions, those
// that count.
func (d *derivation) takeVersions(s *study, path repo.Path, counts func(repo.Touch) bool) {
	for _, t := range d.h.Touching(path) {
		if t.Edits() && d.g.has(t.Commit) && counts(t) {
			s.versions = append(s.versions, version{commit: t.Commit, path: path})
		}
	}
}

// commits returns the numbers of a node's versions, ascending.
func (s *study) commits() []repo.CommitNumber {
	list := make([]repo.CommitNumber, len(s.versions))
	for i, v := range s.versions {
		list[i] = v.commit
	}
	return list
}

// at returns the version that a commit is.
func (s *study) at(c repo.CommitNumber) version {
	i, _ := slices.BinarySearchFunc(s.versions, c, func(v version, c repo.CommitNumber) int { return cmp.Compare(v.commit, c) })
	return s.versions[i]
}

// pathAt returns where a node's file was in one of its versions.
func (s *study) pathAt(c repo.CommitNumber) repo.Path { return s.at(c).path }

// rowsOf returns the versions of a node, newest first.
func (d *derivation) rowsOf(s *study) []VersionRow {
	rows := make([]VersionRow, len(s.rows))
	for i, c := range s.rows {
		commit := d.h.Commit(c)
		rows[i] = VersionRow{
			Commit: commit.ID, Path: s.pathAt(c), From: s.at(c).from, Date: commit.Date, Subject: commit.Subject,
			Session: session(commit.Trailers),
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

// HistoryFilter is what the history index keeps of commits for specs.
func HistoryFilter() repo.HistoryFilter {
	return repo.HistoryFilter{
		Trailers: []string{TrailerSession, TrailerAck, TrailerBasis},
		Marker:   TrailerAck,
		MoveDir:  Root,
		MoveName: FileName,
	}
}

// session returns the session that a commit names, nil for none. Of several it is
// the last, which is the one that git interpret-trailers replaces: those above it
// came with messages that were put together. One that names nothing does not count.
func session(trailers []repo.Trailer) *string {
	for _, t := range slices.Backward(trailers) {
		if value := strings.TrimSpace(t.Value); value != "" && strings.EqualFold(t.Key, TrailerSession) {
			return &value
		}
	}
	return nil
}

// order sorts every node's versions and acks, newest first.
func (d *derivation) order(ctx context.Context) error {
	lists := make([][]repo.CommitNumber, 0, len(d.studies))
	for _, s := range d.studies {
		s.rows = s.commits()
		lists = append(lists, s.rows)
		var acks []repo.CommitNumber
		for _, c := range s.standing {
			acks = append(acks, c.ack.commit)
		}
		slices.Sort(acks)
		lists = append(lists, slices.Compact(acks))
	}
	if err := d.newest(ctx, lists); err != nil {
		return err
	}
	for i, s := range d.studies {
		if place := lists[2*i+1]; len(s.standing) > 1 {
			slices.SortStableFunc(s.standing, func(a, b *claim) int {
				return cmp.Or(
					cmp.Compare(slices.Index(place, a.ack.commit), slices.Index(place, b.ack.commit)),
					cmp.Compare(a.ack.nth, b.ack.nth),
				)
			})
		}
	}
	return nil
}

// newest sorts lists of commits: by date, newest first, and by id where that is the
// same, but never a commit behind its ancestor, whatever their clocks said. The
// numbers, which depend on how the history was gathered, decide nothing.
func (d *derivation) newest(ctx context.Context, lists [][]repo.CommitNumber) error {
	var odd []*dated // the lists in which an ancestor may stand before its descendant
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
			odd = append(odd, l)
		}
	}
	type single struct {
		in *dated
		at int
	}
	var singles []single
	var sets [][]repo.CommitNumber
	for _, l := range odd {
		for i, it := range l.items {
			singles = append(singles, single{l, i})
			sets = append(sets, []repo.CommitNumber{it.commit})
		}
	}
	err := d.g.cover(ctx, sets, func(v *cover) {
		for i := range v.sets {
			x := singles[v.first+i]
			for j, it := range x.in.items {
				if j != x.at && v.by(i, it.commit) {
					x.in.items[x.at].over = append(x.in.items[x.at].over, j)
				}
			}
		}
	})
	for _, l := range odd {
		l.untangle()
	}
	return err
}

// A dated is a list of commits with their dates.
type dated struct {
	list  []repo.CommitNumber
	items []datedItem
}

type datedItem struct {
	commit repo.CommitNumber
	date   time.Time
	id     repo.ID
	over   []int // the items that are its ancestors
}

func (a datedItem) compare(b datedItem) int {
	return cmp.Or(a.date.Compare(b.date), strings.Compare(string(a.id.Bytes()), string(b.id.Bytes())))
}

func (d *derivation) date(list []repo.CommitNumber) *dated {
	l := &dated{list: list, items: make([]datedItem, len(list))}
	for i, c := range list {
		commit := d.h.Commit(c)
		date, _ := time.Parse(time.RFC3339, commit.Date) // one that cannot be read is old
		l.items[i] = datedItem{commit: c, date: date, id: commit.ID}
	}
	return l
}

// untangle puts into the list, again and again, the first item that has no
// descendant left.
func (l *dated) untangle() {
	waits := make([]int, len(l.items)) // for how many descendants
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
