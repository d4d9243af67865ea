package share

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
)

// A PrunedRecord is a record that a prune removes.
type PrunedRecord struct {
	Name  Name   `json:"name"`
	About string `json:"about"` // file or directory
	repo.PathJSON
	Author string    `json:"author"`
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	Reason string    `json:"reason"`

	outlined bool
	rank     int
	depth    int // of a directory
}

const aboutDirectory = "directory"

// The order in which a prune removes records.
const (
	supersededOutline = iota
	supersededText
	anyOutline
	anyDirectory
	anyText
)

var ranks = [...]string{"has a later outline", "has a later summary", "an outline, which ken can make again", "a summary of a directory", "one of the oldest"}

func prunedRecord(r store.Record, n Name, size int64) PrunedRecord {
	d := PrunedRecord{Name: n, About: "file", PathJSON: r.Path().JSON(), Author: r.Author(), At: r.At(), Bytes: size}
	if r.Directory != nil {
		d.About, d.outlined = aboutDirectory, r.Directory.IsOutline()
	}
	return d
}

// choosePruned returns the records to remove so that the others have at most room bytes: first outlines
// and then summaries with a later one of the same path, then other outlines, which cost nothing
// to make again, then summaries of directories from the root down, then the oldest summaries.
//
// A summary of a directory is fresh only while those of its subdirectories exist, and a survey
// writes those first. Oldest first would therefore make every remaining one stale.
func choosePruned(all []PrunedRecord, room int64) []PrunedRecord {
	type place struct {
		about    string
		path     repo.PathJSON
		outlined bool
	}
	older := func(a, b PrunedRecord) int { return cmp.Or(a.At.Compare(b.At), bytes.Compare(a.Name[:], b.Name[:])) }
	newest := make(map[place]int)
	total := int64(0)
	for i, d := range all {
		total += d.Bytes
		at := place{d.About, d.PathJSON, d.outlined}
		if k, ok := newest[at]; !ok || older(all[k], d) < 0 {
			newest[at] = i
		}
	}
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
			d.rank, d.depth = anyDirectory, depth(d.PathJSON)
		default:
			d.rank = anyText
		}
		d.Reason = ranks[d.rank]
	}
	slices.SortFunc(list, func(a, b PrunedRecord) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.depth, b.depth), older(a, b))
	})
	n := 0
	for ; n < len(list) && total > room; n++ {
		total -= list[n].Bytes
	}
	return list[:n]
}

// depth returns the number of directories above a path.
func depth(p repo.PathJSON) int {
	path, err := p.Raw()
	if err != nil || path == "" {
		return 0
	}
	return 1 + strings.Count(string(path), "/")
}

// prune removes files from a union: records if they exceed the budget, and files that no version
// of ken can use. It does not remove a record that this clone does not trust or cannot read.
//
// If the policy trusts anyone, the new commit has no parent, so that git can delete the removed
// records. Under any other policy the history stays: it says who committed the other records.
func (s *Share) prune(ctx context.Context, u *union) ([]PrunedRecord, []Quarantined, error) {
	records, err := s.recordsToPrune(ctx, u)
	junk := u.junk()
	if err != nil || len(records)+len(junk) == 0 {
		return nil, nil, err
	}
	who, _, err := s.git.Identity(ctx)
	if err != nil {
		return nil, nil, err
	}
	if why := s.opts.Policy.ownDistrustReason(who); why != "" {
		return nil, nil, &fault.Error{
			Hint: "ask a trusted committer to run: ken share push --prune; the policy is in share of .ken/config.yaml",
			Err:  fmt.Errorf("the policy does not trust you (%s) to prune: %s", who, why),
		}
	}
	var c git.NewCommit
	for _, d := range records {
		c.Remove = append(c.Remove, d.Name.Path())
		u.Records--
		u.Bytes -= d.Bytes
	}
	for _, q := range junk {
		path, err := q.Raw()
		if err != nil {
			return nil, nil, err
		}
		c.Remove = append(c.Remove, path)
		delete(u.bad, path)
	}
	if s.opts.Policy.trustsAnyone() {
		if c.Tree, _, err = s.git.Tree(ctx, u.Tip); err != nil {
			return nil, nil, err
		}
		u.replace = true
	} else {
		c.Parents = []repo.ID{u.Tip}
	}
	u.Tip, err = s.commit(ctx, c, "ken: prune", fmt.Sprintf("%s: %d", pruneTrailer, len(c.Remove)))
	return records, junk, err
}

// recordsToPrune returns the records to remove from a union that exceeds its budget.
func (s *Share) recordsToPrune(ctx context.Context, u *union) ([]PrunedRecord, error) {
	if !s.size(u.view).Exceeded() {
		return nil, nil
	}
	files, err := s.git.TreeChanges(ctx, repo.ID{}, u.Tip)
	if err != nil {
		return nil, err
	}
	var names []Name
	var ids []repo.ID
	for _, f := range files {
		n, ok := recordAt(f.Path)
		if ok && u.uses(n) {
			names = append(names, n)
			ids = append(ids, f.New)
		}
	}
	var all []PrunedRecord
	unread := 0
	err = s.git.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
		r, q := readRecord(names[i], content, size, s.opts.Now())
		if size < 0 || q.Reason != "" {
			unread++
			return
		}
		all = append(all, prunedRecord(r, names[i], size))
	})
	if err == nil && unread > 0 {
		err = &fault.Error{Hint: "git fsck", Err: fmt.Errorf("%d records are unreadable", unread)}
	}
	if err != nil {
		return nil, err
	}
	// A quarter of the budget stays free, or the next push would exceed it again.
	return choosePruned(all, s.opts.Policy.budget()*3/4), nil
}
