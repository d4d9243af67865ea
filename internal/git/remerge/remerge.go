// Package remerge repeats merges in a temporary git directory, to find the files that git merges by itself. No person edited
// those.
//
// Git uses no configuration, attributes or merge drivers, so the result depends only on the commits.
package remerge

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
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
	// From has the paths from which the commit moved a file to a path.
	From map[repo.Path][]repo.Path

	// The result of merging the parents again.
	tree      repo.ID
	conflicts map[repo.Path]bool
	err       error // why git cannot repeat the merge
}

// Repeat repeats merges. For each path it returns whether git makes the same content, or the error.
func Repeat(ctx context.Context, src Source, merges []*Merge, failures *Failures) (byGit map[repo.CommitPath]bool, unknown map[repo.CommitPath]error) {
	byGit, unknown = make(map[repo.CommitPath]bool), make(map[repo.CommitPath]error)
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
	var ids map[repo.CommitPath]repo.ID
	if err == nil {
		ids, err = s.idsOf(ctx, merges)
	}
	for _, m := range merges {
		for _, p := range m.Paths {
			at := repo.CommitPath{Commit: m.Commit, Path: p}
			if failed := cmp.Or(m.err, err); failed != nil {
				unknown[at] = failed
				continue
			}
			byGit[at] = m.isByGit(p, ids)
		}
	}
	return byGit, unknown
}

// idsOf returns the ids at the paths of merges that git could repeat: in the commits and in git's own merges.
func (s *scratch) idsOf(ctx context.Context, merges []*Merge) (map[repo.CommitPath]repo.ID, error) {
	var places []repo.CommitPath
	for _, m := range merges {
		if m.err != nil {
			continue
		}
		for _, p := range m.Paths {
			places = append(places, repo.CommitPath{Commit: m.Commit, Path: p}, repo.CommitPath{Commit: m.tree, Path: p})
			for _, from := range m.From[p] {
				places = append(places, repo.CommitPath{Commit: m.tree, Path: from})
			}
		}
	}
	return s.idsAt(ctx, places)
}

// isByGit reports whether git makes the same content at a path. If git's merge lacks the path, a person may have
// moved the file there from the path that it has in git's merge.
func (m *Merge) isByGit(p repo.Path, ids map[repo.CommitPath]repo.ID) bool {
	now := ids[repo.CommitPath{Commit: m.Commit, Path: p}]
	same := func(at repo.Path) bool {
		return !m.conflicts[at] && ids[repo.CommitPath{Commit: m.tree, Path: at}] == now
	}
	missing := !m.conflicts[p] && ids[repo.CommitPath{Commit: m.tree, Path: p}].IsZero()
	return same(p) || missing && slices.ContainsFunc(m.From[p], same)
}

// idsAt returns the ids at some places. A place may come twice.
func (s *scratch) idsAt(ctx context.Context, places []repo.CommitPath) (map[repo.CommitPath]repo.ID, error) {
	ids := make(map[repo.CommitPath]repo.ID, len(places))
	for _, p := range places {
		ids[p] = repo.ID{}
	}
	asked := slices.Collect(maps.Keys(ids))
	found, err := s.objects.IDsAt(ctx, asked, nil)
	if err != nil {
		return nil, err
	}
	for i, p := range asked {
		ids[p] = found[i]
	}
	return ids, nil
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
