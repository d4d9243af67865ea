package registry

import (
	"context"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A subject is one path, examined on its own: what is known of it, and what
// stands there now.
type subject struct {
	path    repo.Path
	tracked bool
	state   contentState  // meaningful when tracked
	err     error         // why, when unreadable
	before  store.FileRow // as it was kept; zero Path when it was not
	now     store.FileRow // as it is, About included; like before when nothing could be established
	bytes   repo.ID       // of the bytes on disk, when they were read
}

// readable reports whether the subject's content is established.
func (s *subject) readable() bool { return s.tracked && (s.state == same || s.state == changed) }

// unmoved reports whether the row kept says all there is to say about what
// stands there, whatever text it is about.
func (s *subject) unmoved() bool {
	now, before := s.now, s.before
	now.About, now.Stat = before.About, before.Stat
	now.Marks &^= store.MarkGraded | store.MarkUncounted
	before.Marks &^= store.MarkGraded | store.MarkUncounted
	return now == before
}

// examine looks at the given paths and nothing else. Their bytes are read where
// no row holds their md5, or where the caller wants them read in any case.
func (r *Registry) examine(ctx context.Context, paths []repo.Path, read bool) (*repo.Snapshot, []subject, error) {
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	base, verified, err := r.store.Baseline(ctx, snap.Worktree)
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
		at[k], s.tracked = find(snap.Index.Entries, p)
		if s.tracked {
			only = append(only, at[k])
		}
	}
	slices.Sort(only)
	only = slices.Compact(only)
	v := &verification{Registry: r, entered: &entered{base: base, verified: verified}, again: read}
	if v.view, err = r.look(ctx, snap, base, only); err != nil {
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

// chooseFor gives the tracked ones of the subjects their texts. A path that is not
// tracked has no row to be about anything.
func (r *Registry) chooseFor(ctx context.Context, v *verification, subjects []subject) error {
	if err := r.news(ctx, v.entered); err != nil {
		return err
	}
	var rows []store.FileRow
	var of []*subject
	for k := range subjects {
		s := &subjects[k]
		s.now.About = fresh.Basis{}
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

// verdict says what the text about a subject is worth, and why.
func (r *Registry) verdict(s *subject) (fresh.State, fresh.Grade, []string) {
	if !s.tracked {
		return fresh.Gone, "", []string{"not_tracked"}
	}
	state, grade := r.worth(s.state, s.now)
	switch {
	case state == fresh.Excluded:
		return state, grade, []string{s.now.Excluded}
	case s.state == unreadable:
		return state, grade, []string{because(s.err, "could not be read")}
	case s.state == absent:
		return state, grade, []string{because(s.err, "deleted")}
	case s.state == conflicted:
		return state, grade, []string{"conflicted"}
	case s.state == sparse && state == fresh.Unknown:
		return state, grade, []string{reasonUnseen}
	case state == fresh.Stale:
		return state, grade, []string{"content_changed"}
	default:
		return state, grade, []string{}
	}
}
