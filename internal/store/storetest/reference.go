package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A reference does what a store does as simply as possible. Random tests compare a store with it.
type reference struct {
	rows          map[string]map[repo.Path]store.FileRow
	verifications map[string]store.Verification
	// generations counts the changes to a worktree's rows and verification.
	generations map[string]int64
	records     []fresh.Record // in the order they came, without duplicates

	directories []*store.DirRecord // in the order they came, without duplicates
	failed      map[repo.Path]store.DirFailure
	leases      map[string]map[repo.Path]store.Lease // by worktree
}

var (
	_ store.Directories = (*reference)(nil)
	_ store.Leases      = (*reference)(nil)
)

func newReference() *reference {
	return &reference{
		rows:          make(map[string]map[repo.Path]store.FileRow),
		verifications: make(map[string]store.Verification),
		generations:   make(map[string]int64),
		failed:        make(map[repo.Path]store.DirFailure),
		leases:        make(map[string]map[repo.Path]store.Lease),
	}
}

// lastVerification, rowList, rowsOf, exceptions and counts are the methods of [store.Files] that read rows.
func (s *reference) lastVerification(worktree string) (store.Verification, bool) {
	b, ok := s.verifications[worktree]
	b.Generation = s.generations[worktree]
	return b, ok
}

func (s *reference) rowList(worktree string) []store.FileRow {
	var list []store.FileRow
	for _, p := range slices.Sorted(maps.Keys(s.rows[worktree])) {
		list = append(list, s.rows[worktree][p])
	}
	return list
}

func (s *reference) rowsOf(worktree string, paths []repo.Path) map[repo.Path]store.FileRow {
	found := make(map[repo.Path]store.FileRow)
	for _, p := range paths {
		if r, ok := s.rows[worktree][p]; ok {
			found[p] = r
		}
	}
	return found
}

func (s *reference) exceptions(worktree string, marks store.FileMarks) map[repo.Path]store.FileRow {
	found := make(map[repo.Path]store.FileRow)
	for p, r := range s.rows[worktree] {
		described := r.Excluded == "" && !r.SummaryBasis.IsZero()
		stale := described && !r.SummaryBasis.Matches(r.Content)
		if r.Marks&marks != 0 || stale {
			found[p] = r
		}
	}
	return found
}

func (s *reference) counts(worktree string) store.FileCounts {
	var counts store.FileCounts
	for _, r := range s.rows[worktree] {
		counts.Add(r, 1)
	}
	return counts
}

// newest returns the newest record whose basis holds for c.
func (s *reference) newest(c repo.Content) (fresh.Record, bool) {
	return s.newestWhere(func(r fresh.Record) bool {
		key := r.Basis.Key().Content
		byID := key.MD5.IsZero() && key.ID == c.ID
		byMD5 := key.ID.IsZero() && key.MD5 == c.MD5
		return !r.Basis.IsZero() && (byID || byMD5)
	})
}

// newestAt returns the newest record that was written at a path.
func (s *reference) newestAt(path repo.Path) (fresh.Record, bool) {
	return s.newestWhere(func(r fresh.Record) bool { return r.Path == path })
}

func (s *reference) newestWhere(chosen func(fresh.Record) bool) (best fresh.Record, ok bool) {
	for _, r := range s.records {
		if chosen(r) && (!ok || r.Compare(best) > 0) {
			best = r
			ok = true
		}
	}
	return best, ok
}

func (s *reference) newestOf(contents []repo.Content) map[repo.Content]fresh.Record {
	found := make(map[repo.Content]fresh.Record)
	for _, c := range contents {
		if r, ok := s.newest(c); ok {
			found[c] = r
		}
	}
	return found
}

func (s *reference) headersAt(paths []repo.Path) map[repo.Path][]store.RecordHeader {
	ordered := slices.Clone(s.records)
	slices.SortFunc(ordered, func(a, b fresh.Record) int { return b.Compare(a) })
	found := make(map[repo.Path][]store.RecordHeader)
	for _, r := range ordered {
		if slices.Contains(paths, r.Path) {
			found[r.Path] = append(found[r.Path], store.RecordHeader{Basis: r.Basis, At: r.At, ID: r.ID()})
		}
	}
	return found
}

// commit is Commit of [store.Files].
func (s *reference) commit(worktree string, c store.FileChanges, still func() (bool, error)) error {
	set := c.Verification != nil && c.Verification.Generation == s.generations[worktree]
	if set {
		var err error
		if set, err = still(); err != nil {
			return err
		}
	}
	for _, r := range c.Records {
		s.addRecord(r)
	}
	if s.rows[worktree] == nil {
		s.rows[worktree] = make(map[repo.Path]store.FileRow)
	}
	for _, r := range c.Put {
		r.SummaryBasis = r.SummaryBasis.Key()
		s.rows[worktree][r.Path] = r
	}
	// The basis of a row is that of the newest record for its content. Without a record, it stays unchanged.
	for _, rows := range s.rows {
		for p, r := range rows {
			if rec, ok := s.newest(r.Content); ok {
				r.SummaryBasis = rec.Basis.Key()
				rows[p] = r
			}
		}
	}
	for _, p := range c.Delete {
		delete(s.rows[worktree], p)
	}
	moved := len(c.Put)+len(c.Delete) > 0
	if set {
		s.verifications[worktree] = *c.Verification
	} else if b, ok := s.verifications[worktree]; ok && moved {
		b.Clean = false
		b.Index = repo.ID{}
		s.verifications[worktree] = b
	}
	if set || moved {
		s.generations[worktree]++
	}
	if c.Worktrees == nil {
		return nil
	}
	for name := range s.rows {
		if !slices.Contains(c.Worktrees, name) {
			delete(s.rows, name)
			delete(s.verifications, name)
			delete(s.generations, name)
		}
	}
	return nil
}

// addRecord adds a record unless it exists.
func (s *reference) addRecord(r fresh.Record) {
	id := r.ID()
	if !slices.ContainsFunc(s.records, func(have fresh.Record) bool { return have.ID() == id }) {
		s.records = append(s.records, r)
	}
}

func (s *reference) Latest(context.Context) (map[repo.Path][]*store.DirRecord, error) {
	return newestBy(s.directories, func(r *store.DirRecord) repo.Path { return r.Path }), nil
}

func (s *reference) DirRecordsByBasis(_ context.Context, bases []fresh.Digest) (map[fresh.Digest][]*store.DirRecord, error) {
	found := newestBy(s.directories, func(r *store.DirRecord) fresh.Digest { return r.Basis.Digest() })
	maps.DeleteFunc(found, func(b fresh.Digest, _ []*store.DirRecord) bool { return !slices.Contains(bases, b) })
	return found, nil
}

func (s *reference) DirRecordsByVersion(_ context.Context, places []store.DirVersion) (map[store.DirVersion][]*store.DirRecord, error) {
	found := newestBy(s.directories, func(r *store.DirRecord) store.DirVersion {
		return store.DirVersion{Path: r.Path, Basis: r.Basis.Digest()}
	})
	maps.DeleteFunc(found, func(v store.DirVersion, _ []*store.DirRecord) bool { return !slices.Contains(places, v) })
	return found, nil
}

func (s *reference) PastDirRecords(_ context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error) {
	found := make(map[repo.Path][]*store.DirRecord)
	for _, r := range newestFirst(s.directories) {
		wanted := slices.Contains(dirs, r.Path) && !r.IsOutline()
		if wanted && len(found[r.Path]) < store.MaxPastRecords {
			found[r.Path] = append(found[r.Path], r)
		}
	}
	return found, nil
}

func (s *reference) DirRecord(_ context.Context, id fresh.Digest) (*store.DirRecord, error) {
	for _, r := range s.directories {
		if r.ID() == id {
			return r, nil
		}
	}
	return nil, nil
}

func newestFirst(records []*store.DirRecord) []*store.DirRecord {
	return slices.SortedFunc(slices.Values(records), func(a, b *store.DirRecord) int { return b.Compare(a) })
}

// newestBy returns the newest outline and the newest other record with each key, the newer one first.
func newestBy[K comparable](records []*store.DirRecord, key func(*store.DirRecord) K) map[K][]*store.DirRecord {
	newest := make(map[K][]*store.DirRecord)
	for _, r := range newestFirst(records) {
		k := key(r)
		sameKind := func(newer *store.DirRecord) bool { return newer.IsOutline() == r.IsOutline() }
		if !slices.ContainsFunc(newest[k], sameKind) {
			newest[k] = append(newest[k], r)
		}
	}
	return newest
}

func (s *reference) SaveDirRecords(_ context.Context, records []*store.DirRecord) error {
	for _, r := range records {
		have := func(o *store.DirRecord) bool { return o.ID() == r.ID() && o.Path == r.Path }
		if slices.ContainsFunc(s.directories, have) {
			continue
		}
		s.directories = append(s.directories, r)
		if f, ok := s.failed[r.Path]; ok && !f.At.After(r.At) {
			delete(s.failed, r.Path)
		}
	}
	return nil
}

func (s *reference) Failures(context.Context) (map[repo.Path]store.DirFailure, error) {
	return s.failed, nil
}

func (s *reference) SaveFailure(_ context.Context, f store.DirFailure) error {
	later := func(r *store.DirRecord) bool { return r.Path == f.Path && r.At.After(f.At) }
	if slices.ContainsFunc(s.directories, later) {
		return nil
	}
	if old, ok := s.failed[f.Path]; !ok || !old.At.After(f.At) {
		s.failed[f.Path] = f
	}
	return nil
}

func (s *reference) Leases(_ context.Context, worktree string) (map[repo.Path]store.Lease, error) {
	return s.leases[worktree], nil
}

func (s *reference) Acquire(_ context.Context, worktree string, l store.Lease, now time.Time) (bool, error) {
	held, ok := s.leases[worktree][l.Path]
	if ok && held.Token != l.Token && held.Expires.After(now) {
		return false, nil
	}
	if s.leases[worktree] == nil {
		s.leases[worktree] = make(map[repo.Path]store.Lease)
	}
	s.leases[worktree][l.Path] = l
	return true, nil
}

func (s *reference) Complete(ctx context.Context, worktree string, l store.Lease, r *store.DirRecord) (bool, error) {
	held, ok := s.leases[worktree][l.Path]
	if !ok || held.Token != l.Token {
		return false, nil
	}
	delete(s.leases[worktree], l.Path)
	return true, s.SaveDirRecords(ctx, []*store.DirRecord{r})
}
