package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var (
	_ store.Directories = (*Store)(nil)
	_ store.Leases      = (*Store)(nil)
)

// Latest implements [store.Directories].
func (s *Store) Latest(ctx context.Context) (map[repo.Path][]*store.DirRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return newestBy(s.directories, func(r *store.DirRecord) repo.Path { return r.Path }), nil
}

// DirRecordsByBasis implements [store.Directories]. Of the records from one basis, it returns
// the newest outline and the newest of any other recipe.
func (s *Store) DirRecordsByBasis(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[fresh.Digest][]*store.DirRecord)
	for _, b := range bases {
		if list := s.written[b]; len(list) > 0 {
			found[b] = newestBy(list, func(*store.DirRecord) fresh.Digest { return b })[b]
		}
	}
	return found, nil
}

// DirRecordsByVersion implements [store.Directories].
func (s *Store) DirRecordsByVersion(ctx context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[store.DirVersion][]*store.DirRecord)
	for _, p := range places {
		there := slices.DeleteFunc(slices.Clone(s.written[p.Basis]), func(r *store.DirRecord) bool { return r.Path != p.Path })
		if len(there) > 0 {
			found[p] = newestBy(there, func(*store.DirRecord) store.DirVersion { return p })[p]
		}
	}
	return found, nil
}

// PastDirRecords implements [store.Directories].
func (s *Store) PastDirRecords(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ordered := byAge(s.directories)
	found := make(map[repo.Path][]*store.DirRecord)
	for _, r := range slices.Backward(ordered) {
		if slices.Contains(dirs, r.Path) && !r.IsOutline() && len(found[r.Path]) < store.MaxPastRecords {
			found[r.Path] = append(found[r.Path], r)
		}
	}
	return found, nil
}

// DirRecord implements [store.Directories].
func (s *Store) DirRecord(ctx context.Context, id fresh.Digest) (*store.DirRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.directories {
		if r.ID() == id && !r.At.After(fresh.LatestTime(time.Now())) {
			return r, nil
		}
	}
	return nil, nil
}

// byAge returns the records that are not dated ahead, the oldest first.
func byAge(records []*store.DirRecord) []*store.DirRecord {
	latest := fresh.LatestTime(time.Now())
	list := slices.DeleteFunc(slices.Clone(records), func(r *store.DirRecord) bool { return r.At.After(latest) })
	slices.SortFunc(list, (*store.DirRecord).Compare)
	return list
}

// newestBy returns the newest outline and the newest other record with each key, the
// newer one first.
func newestBy[K comparable](records []*store.DirRecord, key func(*store.DirRecord) K) map[K][]*store.DirRecord {
	ordered := byAge(records)
	newest := make(map[K][]*store.DirRecord)
	for _, r := range slices.Backward(ordered) {
		k := key(r)
		if !slices.ContainsFunc(newest[k], func(newer *store.DirRecord) bool { return newer.IsOutline() == r.IsOutline() }) {
			newest[k] = append(newest[k], r)
		}
	}
	return newest
}

// SaveDirRecords implements [store.Directories].
func (s *Store) SaveDirRecords(ctx context.Context, records []*store.DirRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		s.addDirRecord(r)
	}
	return nil
}

// A dirKey identifies a record of a directory. Records of two directories may have the same id.
type dirKey struct {
	id   fresh.Digest
	path repo.Path
}

// addDirRecord adds a record unless it exists, and deletes an older failure of the directory.
func (s *Store) addDirRecord(r *store.DirRecord) {
	name := dirKey{r.ID(), r.Path}
	if s.haveDir[name] {
		return
	}
	s.haveDir[name] = true
	kept := *r
	kept.At = r.At.UTC().Truncate(time.Microsecond)
	s.directories = append(s.directories, &kept)
	basis := r.Basis.Digest()
	s.written[basis] = append(s.written[basis], &kept)
	if f, ok := s.failed[r.Path]; ok && !f.At.After(kept.At) {
		delete(s.failed, r.Path)
	}
}

// Failures implements [store.Directories].
func (s *Store) Failures(ctx context.Context) (map[repo.Path]store.DirFailure, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.failed), nil
}

// SaveFailure implements [store.Directories]. Of two failures at the same time, the later call
// wins.
func (s *Store) SaveFailure(ctx context.Context, f store.DirFailure) error {
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

// Leases implements [store.Leases].
func (s *Store) Leases(ctx context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(map[repo.Path]store.Lease)
	maps.Copy(held, s.leases[worktree])
	return held, nil
}

// Acquire implements [store.Leases]. If the lease exists already, Acquire sets its expiry to that of this one.
func (s *Store) Acquire(ctx context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
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
		s.leases[worktree] = make(map[repo.Path]store.Lease)
	}
	s.leases[worktree][l.Path] = l
	return true, nil
}

// Complete implements [store.Leases].
func (s *Store) Complete(ctx context.Context, worktree string, l store.Lease, r *store.DirRecord) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.leases[worktree][l.Path]; !ok || held.Token != l.Token {
		return false, nil
	}
	delete(s.leases[worktree], l.Path)
	s.addDirRecord(r)
	return true, nil
}
