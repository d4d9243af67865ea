package registry

import (
	"context"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A subject is one path that is examined alone: its stored row and its current state.
type subject struct {
	path    repo.Path
	tracked bool
	state   contentState  // set if tracked
	err     error         // why it is unreadable
	before  store.FileRow // the stored row; its Path is "" if there is none
	now     store.FileRow // the current row, with SummaryBasis; like before if the content is unknown
	bytes   repo.ID       // of the bytes on disk, if they were read
}

// readable reports whether the content of the subject is known.
func (s *subject) readable() bool { return s.tracked && (s.state == same || s.state == changed) }

// rowIsCurrent reports whether the stored row is current, apart from its summary.
func (s *subject) rowIsCurrent() bool {
	now, before := s.now, s.before
	now.SummaryBasis, now.Stat = before.SummaryBasis, before.Stat
	now.Marks &^= store.MarkGraded | store.MarkUncounted
	before.Marks &^= store.MarkGraded | store.MarkUncounted
	return now == before
}

// examine reads the given paths and nothing else. It reads the bytes of a path if no row has their md5, or if read
// is set.
func (r *Registry) examine(ctx context.Context, paths []repo.Path, read bool) (*repo.Snapshot, []subject, error) {
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	base, verified, err := r.store.LastVerification(ctx, snap.Worktree)
	if err != nil {
		return nil, nil, err
	}
	rows, err := r.store.RowsOf(ctx, snap.Worktree, paths)
	if err != nil {
		return nil, nil, err
	}
	subjects := make([]subject, len(paths))
	at := make([]int, len(paths))
	only := []int{}
	for k, p := range paths {
		s := &subjects[k]
		s.path, s.before, s.now = p, rows[p], rows[p]
		at[k], s.tracked = repo.FindEntry(snap.Index.Entries, p)
		if s.tracked {
			only = append(only, at[k])
		}
	}
	slices.Sort(only)
	only = slices.Compact(only)
	v := &verification{Registry: r, session: &session{base: base, verified: verified}, distrustRows: read}
	if v.view, err = r.readView(ctx, snap, base, only, false); err != nil {
		return nil, nil, err
	}
	items := make([]item, len(only))
	for k, i := range only {
		items[k] = item{i: i}
		if row, ok := rows[snap.Index.Entries[i].Path]; ok {
			items[k].row = &row
		}
	}
	attrs, err := v.attributes(ctx, items)
	if err != nil {
		return nil, nil, err
	}
	if err := v.readUnread(ctx, items, attrs); err != nil {
		return nil, nil, err
	}
	classified := v.classify(items, attrs)
	for k := range subjects {
		s := &subjects[k]
		if !s.tracked {
			continue
		}
		j, _ := slices.BinarySearch(only, at[k])
		seen := v.view.pathState(at[k])
		s.state, s.err, s.now, s.bytes = seen.state, seen.err, classified[j], seen.bytes
	}
	return snap, subjects, r.chooseFor(ctx, v, subjects)
}

// chooseFor chooses the summaries of the tracked subjects. Other subjects have no row.
func (r *Registry) chooseFor(ctx context.Context, v *verification, subjects []subject) error {
	if err := r.findRenewed(ctx, v.session); err != nil {
		return err
	}
	var rows []store.FileRow
	var of []*subject
	for k := range subjects {
		s := &subjects[k]
		s.now.SummaryBasis = fresh.Basis{}
		if s.tracked {
			rows, of = append(rows, s.now), append(of, s)
		}
	}
	_, err := r.choose(ctx, v.view.snap, choice{
		rows:    rows,
		before:  func(k int) store.FileRow { return of[k].before },
		bytes:   func(k int) repo.ID { return of[k].bytes },
		settled: v.settled,
		regrade: v.view.policy != v.base.Policy,
	})
	for k := range rows {
		of[k].now = rows[k]
	}
	return err
}

// verdict returns the verdict of a subject's summary, the grade of the difference, and the reasons.
func (r *Registry) verdict(s *subject) (fresh.State, fresh.Grade, []string) {
	if !s.tracked {
		return fresh.Gone, "", []string{reasonUntracked}
	}
	state, grade := r.verdictOf(s.state, s.now)
	switch {
	case state == fresh.Excluded:
		return state, grade, []string{s.now.Excluded}
	case s.state == unreadable:
		return state, grade, []string{reasonText(s.err, "could not be read")}
	case s.state == absent:
		return state, grade, []string{reasonText(s.err, reasonDeleted)}
	case s.state == conflicted:
		return state, grade, []string{reasonConflict}
	case s.state == sparse && state == fresh.Unknown:
		return state, grade, []string{reasonFiltered}
	case state == fresh.Stale:
		return state, grade, []string{"content_changed"}
	default:
		return state, grade, []string{}
	}
}
