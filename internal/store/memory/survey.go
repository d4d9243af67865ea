package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
)

var (
	_ survey.Store  = (*Store)(nil)
	_ survey.Leases = (*Store)(nil)
)

// Latest implements [survey.Store].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*survey.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return newestBy(s.directories, func(r *survey.Record) repo.Path { return r.Path }), nil
}

// WrittenFrom implements [survey.Store]. Of the records from one basis, it returns
// the newest outline and the newest of any other recipe.
func (s *Store) WrittenFrom(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*survey.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[fresh.Digest][]*survey.Record)
	for _, b := range bases {
		if list := s.written[b]; len(list) > 0 {
			found[b] = newestBy(list, func(*survey.Record) fresh.Digest { return b })[b]
		}
	}
	return found, nil
}

// WrittenIn implements [survey.Store].
func (s *Store) WrittenIn(ctx context.Context, places []survey.Place) (map[survey.Place][]*survey.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[survey.Place][]*survey.Record)
	for _, p := range places {
		there := slices.DeleteFunc(slices.Clone(s.written[p.Basis]), func(r *survey.Record) bool { return r.Path != p.Path })
		if len(there) > 0 {
			found[p] = newestBy(there, func(*survey.Record) survey.Place { return p })[p]
		}
	}
	return found, nil
}

// WrittenOf implements [survey.Store].
func (s *Store) WrittenOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*survey.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ordered := byAge(s.directories)
	found := make(map[repo.Path][]*survey.Record)
	for _, r := range slices.Backward(ordered) {
		if slices.Contains(dirs, r.Path) && !r.Outlined() && len(found[r.Path]) < survey.PastTexts {
			found[r.Path] = append(found[r.Path], r)
		}
	}
	return found, nil
}

// Kept implements [survey.Store].
func (s *Store) Kept(ctx context.Context, id fresh.Digest) (*survey.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.directories {
		if r.ID() == id && !r.At.After(fresh.Latest(time.Now())) {
			return r, nil
		}
	}
	return nil, nil
}

// byAge returns the records that are not dated ahead, the oldest first.
func byAge(records []*survey.Record) []*survey.Record {
	latest := fresh.Latest(time.Now())
	list := slices.DeleteFunc(slices.Clone(records), func(r *survey.Record) bool { return r.At.After(latest) })
	slices.SortFunc(list, (*survey.Record).Compare)
	return list
}

// newestBy returns the newest outline and the newest other record with each key, the
// newer one first.
func newestBy[K comparable](records []*survey.Record, key func(*survey.Record) K) map[K][]*survey.Record {
	ordered := byAge(records)
	newest := make(map[K][]*survey.Record)
	for _, r := range slices.Backward(ordered) {
		k := key(r)
		if !slices.ContainsFunc(newest[k], func(newer *survey.Record) bool { return newer.Outlined() == r.Outlined() }) {
			newest[k] = append(newest[k], r)
		}
	}
	return newest
}

// Keep implements [survey.Store].
func (s *Store) Keep(ctx context.Context, records []*survey.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		s.keepDirectory(r)
	}
	return nil
}

// A placed is a record at a directory. The same record at another is another one.
type placed struct {
	id   fresh.Digest
	path repo.Path
}

// keepDirectory adds a record, unless it is kept already, and lets go of the failure
// that it follows.
func (s *Store) keepDirectory(r *survey.Record) {
	name := placed{r.ID(), r.Path}
	if s.kept[name] {
		return
	}
	s.kept[name] = true
	kept := *r
	kept.At = r.At.UTC().Truncate(time.Microsecond)
	s.directories = append(s.directories, &kept)
	basis := r.Basis.Digest()
	s.written[basis] = append(s.written[basis], &kept)
	if f, ok := s.failed[r.Path]; ok && !f.At.After(kept.At) {
		delete(s.failed, r.Path)
	}
}

// Failures implements [survey.Store].
func (s *Store) Failures(ctx context.Context) (map[repo.Path]survey.Failure, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.failed), nil
}

// KeepFailure implements [survey.Store]. What happened at the same time happened in
// the order it came.
func (s *Store) KeepFailure(ctx context.Context, f survey.Failure) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.At = f.At.UTC().Truncate(time.Microsecond)
	for _, r := range s.directories {
		if r.Path == f.Path && r.At.After(f.At) {
			return nil
		}
	}
	if old, ok := s.failed[f.Path]; !ok || !old.At.After(f.At) {
		s.failed[f.Path] = f
	}
	return nil
}

// Leases implements [survey.Leases].
func (s *Store) Leases(ctx context.Context, worktree string) (map[repo.Path]survey.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(map[repo.Path]survey.Lease)
	maps.Copy(held, s.leases[worktree])
	return held, nil
}

// Take implements [survey.Leases]. A lease that is kept already is made to expire
// when this one does.
func (s *Store) Take(ctx context.Context, worktree string, l survey.Lease, now time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Expires = l.Expires.UTC().Truncate(time.Microsecond)
	held, ok := s.leases[worktree][l.Path]
	if ok && held.Token != l.Token && held.Expires.After(now.Truncate(time.Microsecond)) {
		return false, nil
	}
	if s.leases[worktree] == nil {
		s.leases[worktree] = make(map[repo.Path]survey.Lease)
	}
	s.leases[worktree][l.Path] = l
	return true, nil
}

// Settle implements [survey.Leases].
func (s *Store) Settle(ctx context.Context, worktree string, l survey.Lease, r *survey.Record) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.leases[worktree][l.Path]; !ok || held.Token != l.Token {
		return false, nil
	}
	delete(s.leases[worktree], l.Path)
	s.keepDirectory(r)
	return true, nil
}
