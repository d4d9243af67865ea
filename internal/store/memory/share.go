package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var _ store.Records = (*Store)(nil)

// Since implements [store.Records].
func (s *Store) Since(ctx context.Context, mark store.Mark, most int) (list []store.Record, next store.Mark, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var files, directories int
	var owner string
	if n, _ := fmt.Sscanf(string(mark), "%s %d %d", &owner, &files, &directories); n != 3 || owner != fmt.Sprintf("%p", s) {
		files, directories = 0, 0
	}
	for ; files < len(s.records) && len(list) < most; files++ {
		r := s.records[files]
		if !s.usable(files) {
			continue
		}
		list = append(list, store.Record{File: &r})
	}
	latest := newestBy(s.directories, func(r *store.DirRecord) repo.Path { return r.Path })
	for ; directories < len(s.directories) && len(list) < most; directories++ {
		r := s.directories[directories]
		if ahead := r.At.After(fresh.LatestTime(time.Now())); !ahead && (!r.IsOutline() || slices.Contains(latest[r.Path], r)) {
			list = append(list, store.Record{Directory: r})
		}
	}
	return list, store.Mark(fmt.Sprintf("%p %d %d", s, files, directories)), nil
}

// AddRecords implements [store.Records].
func (s *Store) AddRecords(ctx context.Context, list []store.Record) error {
	var c store.FileChanges
	var directories []*store.DirRecord
	latest := fresh.LatestTime(time.Now())
	for _, r := range list {
		if r.At().After(latest) {
			continue
		}
		if r.File != nil {
			c.Records = append(c.Records, *r.File)
		} else {
			directories = append(directories, r.Directory)
		}
	}
	if err := s.Commit(ctx, "", c, nil); err != nil {
		return err
	}
	return s.SaveDirRecords(ctx, directories)
}
