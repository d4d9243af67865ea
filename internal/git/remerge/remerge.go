// Package remerge repeats merges in a temporary git directory, to find the files that git merges by itself. No person edited
// those.
//
// Git uses no configuration, attributes or merge drivers, so the result depends only on the commits.
package remerge

import (
	"context"
	"errors"
	"sync"

	"ken/internal/repo"
)

// A Source is the repository with the commits.
type Source struct {
	Objects string // its object directory
	Format  repo.ObjectFormat
	// Shallow and Grafts are the texts of its files of these names. Replaced has a line for each ref of a replaced commit: the
	// id, the name, and more words that do not matter here.
	Shallow, Grafts, Replaced string
}

// A Merge is a merge commit to repeat.
type Merge struct {
	Commit  repo.ID
	Parents []repo.ID
	Paths   []repo.Path // the paths to compare

	// The result of merging the parents again.
	tree      repo.ID
	conflicts map[repo.Path]bool
	err       error // why git cannot repeat the merge
}

// Repeat repeats merges. For each path it returns whether git makes the same content, or the error.
func Repeat(ctx context.Context, src Source, merges []*Merge, failures *Failures) (byGit map[repo.CommitPath]bool, unknown map[repo.CommitPath]error) {
	byGit, unknown = make(map[repo.CommitPath]bool), make(map[repo.CommitPath]error)
	fail := func(m *Merge, err error) {
		for _, p := range m.Paths {
			unknown[repo.CommitPath{Commit: m.Commit, Path: p}] = err
		}
	}
	s, err := newScratch(src)
	if err == nil {
		defer s.remove()
		err = s.mergeAll(ctx, merges, failures)
	}
	if errors.Is(err, errOldGit) {
		for _, m := range merges {
			s.mergeFiles(ctx, m, byGit, unknown)
		}
		return byGit, unknown
	}
	if err != nil {
		for _, m := range merges {
			fail(m, err)
		}
		return byGit, unknown
	}
	var places []repo.CommitPath
	var repeated []*Merge
	for _, m := range merges {
		if m.err != nil {
			fail(m, m.err)
			continue
		}
		repeated = append(repeated, m)
		for _, p := range m.Paths {
			places = append(places, repo.CommitPath{Commit: m.Commit, Path: p}, repo.CommitPath{Commit: m.tree, Path: p})
		}
	}
	ids, err := s.objects.IDsAt(ctx, distinct(places), nil)
	if err != nil {
		for _, m := range repeated {
			fail(m, err)
		}
		return byGit, unknown
	}
	at := make(map[repo.CommitPath]repo.ID, len(ids))
	for i, p := range distinct(places) {
		at[p] = ids[i]
	}
	for _, m := range repeated {
		for _, p := range m.Paths {
			same := at[repo.CommitPath{Commit: m.Commit, Path: p}] == at[repo.CommitPath{Commit: m.tree, Path: p}]
			byGit[repo.CommitPath{Commit: m.Commit, Path: p}] = same && !m.conflicts[p]
		}
	}
	return byGit, unknown
}

// distinct removes repeated places and keeps the order.
func distinct(places []repo.CommitPath) []repo.CommitPath {
	seen := make(map[repo.CommitPath]bool, len(places))
	var list []repo.CommitPath
	for _, p := range places {
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	return list
}

// MaxFailures is the number of consecutive failures after which ken stops. The others would
// probably fail for the same reason.
const MaxFailures = 8

// Failures counts consecutive failures over all batches.
type Failures struct {
	mu    sync.Mutex
	count int
	err   error // why the last one failed
}

// add records that some merges succeeded, and that the next one failed if err is not nil.
func (f *Failures) add(answered int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if answered > 0 {
		f.count = 0
	}
	if err != nil {
		f.count++
		f.err = err
	}
}

// tooMany returns an error if too many merges failed.
func (f *Failures) tooMany() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count <= MaxFailures {
		return nil
	}
	return f.err
}
