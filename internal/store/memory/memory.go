// Package memory is a store in memory. The tests of the durable stores compare them with it, and other tests use
// it as a fake.
//
// It implements [store.Files], [store.Directories] and [store.Leases] as simply as possible. The durable stores are
// internal/store/sqlite and internal/store/postgres.
package memory

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var _ store.Files = (*Store)(nil)

// A Store keeps everything in memory. It is safe for concurrent use.
type Store struct {
	mu        sync.Mutex
	rows      map[string]map[repo.Path]store.FileRow
	baselines map[string]store.Verification
	// generations counts the changes to a worktree's rows and baseline.
	generations map[string]int64
	records     []fresh.Record        // in the order they came
	byID        map[fresh.Digest]int  // into records
	byBasis     map[fresh.Basis][]int // into records, by the key of their basis

	directories []*store.DirRecord                  // in the order they came
	written     map[fresh.Digest][]*store.DirRecord // the same, by basis
	haveDir     map[dirKey]bool
	failed      map[repo.Path]store.DirFailure
	leases      map[string]map[repo.Path]store.Lease // by worktree
}

// New returns an empty store.
func New() *Store {
	return &Store{
		rows:        make(map[string]map[repo.Path]store.FileRow),
		baselines:   make(map[string]store.Verification),
		generations: make(map[string]int64),
		byID:        make(map[fresh.Digest]int),
		byBasis:     make(map[fresh.Basis][]int),
		written:     make(map[fresh.Digest][]*store.DirRecord),
		haveDir:     make(map[dirKey]bool),
		failed:      make(map[repo.Path]store.DirFailure),
		leases:      make(map[string]map[repo.Path]store.Lease),
	}
}

// LastVerification implements [store.Files].
func (s *Store) LastVerification(ctx context.Context, worktree string) (store.Verification, bool, error) {
	if err := ctx.Err(); err != nil {
		return store.Verification{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.baselines[worktree]
	b.Generation = s.generations[worktree]
	return b, ok, nil
}

// Rows implements [store.Files]. The rows are those of the moment the loop
// began, whatever is committed meanwhile.
func (s *Store) Rows(ctx context.Context, worktree string) iter.Seq2[store.FileRow, error] {
	return func(yield func(store.FileRow, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(store.FileRow{}, err)
			return
		}
		s.mu.Lock()
		rows := maps.Clone(s.rows[worktree])
		s.mu.Unlock()
		for _, p := range slices.Sorted(maps.Keys(rows)) {
			if !yield(rows[p], nil) {
				return
			}
		}
	}
}

// RowsOf implements [store.Files].
func (s *Store) RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]store.FileRow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[repo.Path]store.FileRow)
	for _, p := range paths {
		if r, ok := s.rows[worktree][p]; ok {
			found[p] = r
		}
	}
	return found, nil
}

// Exceptions implements [store.Files].
func (s *Store) Exceptions(ctx context.Context, worktree string, marks store.FileMarks) (map[repo.Path]store.FileRow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[repo.Path]store.FileRow)
	for p, r := range s.rows[worktree] {
		stale := r.Excluded == "" && !r.SummaryBasis.IsZero() && !r.SummaryBasis.Matches(r.Content)
		if r.Marks&marks != 0 || stale {
			found[p] = r
		}
	}
	return found, nil
}

// Counts implements [store.Files]. A text whose file's content is not known
// counts as stale, because no check can prove it.
func (s *Store) Counts(ctx context.Context, worktree string) (store.FileCounts, error) {
	if err := ctx.Err(); err != nil {
		return store.FileCounts{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var counts store.FileCounts
	for _, r := range s.rows[worktree] {
		counts.Add(r, 1)
	}
	return counts, nil
}

// newest returns the newest record whose basis holds for c: the one with the
// latest time and, of those, the highest id. None that is dated ahead counts.
func (s *Store) newest(c repo.Content) (fresh.Record, bool) {
	best := -1
	for _, b := range []fresh.Basis{
		{Content: repo.Content{ID: c.ID}},
		{Content: repo.Content{MD5: c.MD5}},
	} {
		if b.IsZero() {
			continue
		}
		for _, i := range s.byBasis[b] {
			if s.usable(i) && (best < 0 || s.after(i, best)) {
				best = i
			}
		}
	}
	if best < 0 {
		return fresh.Record{}, false
	}
	return s.records[best], true
}

func (s *Store) after(i, j int) bool { return s.records[i].Compare(s.records[j]) > 0 }

// usable reports whether a record is not dated ahead.
func (s *Store) usable(i int) bool { return !s.records[i].At.After(fresh.LatestTime(time.Now())) }

// NewestBases implements [store.Files].
func (s *Store) NewestBases(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error) {
	newest, err := s.Newest(ctx, contents)
	if err != nil {
		return nil, err
	}
	known := make(map[repo.Content]fresh.Basis, len(newest))
	for c, r := range newest {
		known[c] = r.Basis.Key()
	}
	return known, nil
}

// Newest implements [store.Files].
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[repo.Content]fresh.Record)
	for _, c := range contents {
		if r, ok := s.newest(c); ok {
			found[c] = r
		}
	}
	return found, nil
}

// Record implements [store.Files].
func (s *Store) Record(ctx context.Context, id fresh.Digest) (fresh.Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return fresh.Record{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.byID[id]
	if !ok || !s.usable(i) {
		return fresh.Record{}, false, nil
	}
	return s.records[i], true, nil
}

// HeadersAt implements [store.Files].
func (s *Store) HeadersAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]store.RecordHeader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[repo.Path][]store.RecordHeader)
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		var at []int
		for i, r := range s.records {
			if r.Path == p && s.usable(i) {
				at = append(at, i)
			}
		}
		slices.SortFunc(at, func(i, j int) int { return s.records[j].Compare(s.records[i]) })
		for _, i := range at {
			r := s.records[i]
			found[p] = append(found[p], store.RecordHeader{Basis: r.Basis, At: r.At, ID: r.ID()})
		}
	}
	return found, nil
}

// PathsSince implements [store.Files].
func (s *Store) PathsSince(ctx context.Context, mark int64) ([]repo.Path, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []repo.Path
	for _, r := range s.records[min(mark, int64(len(s.records))):] {
		paths = append(paths, r.Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), int64(len(s.records)), nil
}

// NewestAt implements [store.Files].
func (s *Store) NewestAt(ctx context.Context, path repo.Path) (fresh.Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return fresh.Record{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, r := range s.records {
		if r.Path == path && s.usable(i) && (best < 0 || s.after(i, best)) {
			best = i
		}
	}
	if best < 0 {
		return fresh.Record{}, false, nil
	}
	return s.records[best], true, nil
}

// Commit implements [store.Files].
func (s *Store) Commit(ctx context.Context, worktree string, c store.FileChanges, still func() (bool, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	// Nothing below can fail, so asking first is as good as rolling back.
	set := c.Verification != nil && c.Verification.Generation == s.generations[worktree]
	if set && still != nil {
		var err error
		if set, err = still(); err != nil {
			return err
		}
	}

	for _, r := range c.Records {
		s.addRecord(r)
	}
	if s.rows[worktree] == nil && len(c.Put) > 0 {
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
	if set {
		b := *c.Verification
		b.At = b.At.UTC().Round(0)
		s.baselines[worktree] = b
	} else if b, ok := s.baselines[worktree]; ok && len(c.Put)+len(c.Delete) > 0 {
		b.Clean, b.Index = false, repo.ID{}
		s.baselines[worktree] = b
	}
	if set || len(c.Put)+len(c.Delete) > 0 {
		s.generations[worktree]++
	}
	if c.Worktrees != nil {
		gone := func(name string) bool { return !slices.Contains(c.Worktrees, name) }
		maps.DeleteFunc(s.rows, func(name string, _ map[repo.Path]store.FileRow) bool { return gone(name) })
		maps.DeleteFunc(s.baselines, func(name string, _ store.Verification) bool { return gone(name) })
		maps.DeleteFunc(s.generations, func(name string, _ int64) bool { return gone(name) })
		maps.DeleteFunc(s.leases, func(name string, _ map[repo.Path]store.Lease) bool { return gone(name) })
	}
	return nil
}

// addRecord adds a record unless it exists.
func (s *Store) addRecord(r fresh.Record) {
	id := r.ID()
	if _, ok := s.byID[id]; ok {
		return
	}
	r.At = r.At.UTC().Truncate(time.Microsecond)
	i := len(s.records)
	s.records = append(s.records, r)
	s.byID[id] = i
	s.byBasis[r.Basis.Key()] = append(s.byBasis[r.Basis.Key()], i)
}
