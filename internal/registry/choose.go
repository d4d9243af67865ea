package registry

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// maxCandidates limits how many contents a row is compared with to find its summary: the newest that have a summary
// at its path.
const maxCandidates = 32

// A choice is the input of choose: rows that need a summary.
type choice struct {
	rows []store.FileRow
	// before returns the stored row, zero if there is none.
	before func(k int) store.FileRow
	// bytes returns the id of the bytes on disk, zero if they were not read.
	bytes func(k int) repo.ID
	// added are records that are about to be stored.
	added []fresh.Record
	// settled reports whether the stored row of a path shows the right summary, provided that its content is the
	// same; see [session.settled].
	settled func(repo.Path) bool
	// regrade says that the stored grades are of other rules.
	regrade bool
}

// choose decides which summary each row shows, and marks the grade of the difference (ADR 23). It is the only place
// that does so. A row shows
//
//  1. the newest summary of its content, at any path, else
//  2. the newest summary of its path whose content differs in a way that does not count, else
//  3. the newest summary of its path, which is stale.
//
// The summaries of a path include those of its former paths. The answer depends on the records, the commit and the
// files alone, so all clones agree.
//
// It returns the bases of case 1, by content.
func (r *Registry) choose(ctx context.Context, snap *repo.Snapshot, c choice) (map[repo.Content]fresh.Basis, error) {
	exact, err := r.exact(ctx, c)
	if err != nil {
		return nil, err
	}
	var open []int
	for k := range c.rows {
		row, was := &c.rows[k], c.before(k)
		row.Marks &^= store.MarkGraded | store.MarkUncounted
		if basis := exact[row.Content]; !basis.IsZero() {
			row.SummaryBasis = basis.Key()
			continue
		}
		if was.Path != "" && was.Content.ID == row.Content.ID && c.settled(row.Path) {
			row.SummaryBasis = was.SummaryBasis
			row.Marks |= was.Marks & (store.MarkGraded | store.MarkUncounted)
			continue
		}
		row.SummaryBasis = fresh.Basis{}
		open = append(open, k)
	}
	if len(open) == 0 {
		return exact, nil
	}
	written, err := r.candidates(ctx, snap, c, open)
	if err != nil {
		return nil, err
	}
	return exact, r.nearest(ctx, c, open, written)
}

// exact returns the bases of the summaries that were written from the contents of the rows.
func (r *Registry) exact(ctx context.Context, c choice) (map[repo.Content]fresh.Basis, error) {
	contents := make([]repo.Content, 0, len(c.rows))
	for i := range c.rows {
		if content := c.rows[i].Content; !content.ID.IsZero() {
			contents = append(contents, content)
		}
	}
	known, err := r.store.NewestBases(ctx, contents)
	if err != nil {
		return nil, err
	}
	added := make(map[fresh.Basis]bool, len(c.added))
	for _, record := range c.added {
		added[record.Basis.Key()] = true
	}
	for _, content := range contents {
		byID := fresh.Basis{Content: repo.Content{ID: content.ID}}
		byMD5 := fresh.Basis{Content: repo.Content{MD5: content.MD5}}
		switch {
		case added[byID]:
			known[content] = byID
		case added[byMD5] && !byMD5.IsZero():
			known[content] = byMD5
		}
	}
	return known, nil
}

// candidates returns the summaries of the path of each open row, newest first, one for each content.
func (r *Registry) candidates(ctx context.Context, snap *repo.Snapshot, c choice, open []int) ([][]store.RecordHeader, error) {
	former, err := r.formerPaths(ctx, snap)
	if err != nil {
		return nil, err
	}
	var paths []repo.Path
	for _, k := range open {
		path := c.rows[k].Path
		paths = append(append(paths, path), former[path]...)
	}
	slices.Sort(paths)
	found, err := r.store.HeadersAt(ctx, slices.Compact(paths))
	if err != nil {
		return nil, err
	}
	for _, record := range c.added {
		found[record.Path] = append(found[record.Path], store.RecordHeader{Basis: record.Basis, At: record.At, ID: record.ID()})
	}
	lists := make([][]store.RecordHeader, len(open))
	for i, k := range open {
		path := c.rows[k].Path
		list := slices.Clone(found[path])
		for _, old := range former[path] {
			list = append(list, found[old]...)
		}
		lists[i] = newestFirst(list)
	}
	return lists, nil
}

// newestFirst sorts candidates by age, and keeps only the newest one of each content.
func newestFirst(list []store.RecordHeader) []store.RecordHeader {
	slices.SortFunc(list, func(a, b store.RecordHeader) int {
		switch {
		case a.Newer(b):
			return -1
		case b.Newer(a):
			return 1
		default:
			return 0
		}
	})
	seen := make(map[fresh.Basis]bool, len(list))
	list = slices.DeleteFunc(list, func(c store.RecordHeader) bool {
		key := c.Basis.Key()
		double := seen[key] || key.IsZero()
		seen[key] = true
		return double
	})
	return list[:min(len(list), maxCandidates)]
}

// formerPaths returns the former paths of tracked files, limited to paths with records.
func (r *Registry) formerPaths(ctx context.Context, snap *repo.Snapshot) (map[repo.Path][]repo.Path, error) {
	if r.former != nil {
		return r.former, nil
	}
	written, _, err := r.store.PathsSince(ctx, 0)
	if err != nil {
		return nil, err
	}
	var gone []repo.Path
	for _, path := range written {
		if _, tracked := repo.FindEntry(snap.Index.Entries, path); !tracked {
			gone = append(gone, path)
		}
	}
	former := map[repo.Path][]repo.Path{}
	if len(gone) > 0 {
		went, err := r.git.Renamed(ctx, snap, gone)
		if err != nil {
			return nil, fmt.Errorf("find renamed files: %w", err)
		}
		for _, old := range gone {
			for _, path := range went[old] {
				former[path] = append(former[path], old)
			}
		}
	}
	r.former = former
	return former, nil
}

// nearest assigns each open row the newest candidate whose difference does not count, else the newest candidate. It
// grades one candidate of every row at a time.
func (r *Registry) nearest(ctx context.Context, c choice, open []int, lists [][]store.RecordHeader) error {
	for round := 0; len(open) > 0; round++ {
		var left []int
		var leftLists [][]store.RecordHeader
		grades, err := r.gradeRound(ctx, c, open, lists, round)
		if err != nil {
			return err
		}
		for i, k := range open {
			row, list := &c.rows[k], lists[i]
			if round >= len(list) {
				continue
			}
			grade := grades[i]
			counts := r.opts.Policy.Counts(grade)
			if round == 0 || !counts {
				row.SummaryBasis = list[round].Basis.Key()
				row.Marks &^= store.MarkGraded | store.MarkUncounted
				row.Marks |= r.markUncounted(store.MarksOfGrade(grade))
			}
			if counts && r.comparable(row) {
				left, leftLists = append(left, k), append(leftLists, list)
			}
		}
		open, lists = left, leftLists
	}
	return nil
}

// comparable reports whether the grade of a row's difference matters.
func (r *Registry) comparable(row *store.FileRow) bool {
	return row.Excluded == "" && !row.Content.ID.IsZero()
}

// gradeRound grades each open row against its candidate of one round.
func (r *Registry) gradeRound(ctx context.Context, c choice, open []int, lists [][]store.RecordHeader, round int) ([]fresh.Grade, error) {
	grades := make([]fresh.Grade, len(open))
	var changes []ContentChange
	var which []int
	for i, k := range open {
		grades[i] = fresh.GradeContent
		if round >= len(lists[i]) || !r.comparable(&c.rows[k]) {
			continue
		}
		row, was, basis := &c.rows[k], c.before(k), lists[i][round].Basis
		switch {
		case sameBytes(basis.Content, c.bytes(k), row.Content):
			grades[i] = fresh.GradeFormat
		case !c.regrade && was.SummaryBasis == basis.Key() && was.Content.ID == row.Content.ID && was.Marks&store.MarkGraded != 0:
			grades[i] = was.Marks.Grade()
		case r.opts.Grade != nil && !basis.Content.ID.IsZero():
			which = append(which, i)
			changes = append(changes, ContentChange{row.Path, basis.Content.ID, row.Content.ID})
		}
	}
	if len(changes) == 0 {
		return grades, nil
	}
	found, err := r.opts.Grade(ctx, changes)
	if err != nil {
		return nil, err
	}
	for j, i := range which {
		grades[i] = found[j]
	}
	return grades, nil
}

// sameBytes reports whether a summary was written from the same bytes on disk, which git stored differently under
// other attributes: with other line ends, encodings or keywords.
func sameBytes(basis repo.Content, bytes repo.ID, now repo.Content) bool {
	if bytes.IsZero() {
		return false
	}
	return basis.ID == bytes || !basis.MD5.IsZero() && basis.MD5 == now.MD5
}
