package git

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// Merged reports who made the content of files in merge commits: git or a person. It has git merge the
// parents again and compares the results. Git uses no configuration, attributes or merge drivers, so
// the verdict depends only on the commits. Merged caches verdicts.
//
// If git cannot repeat a merge, for example because an object is missing, the verdict is unknown with
// the reason. The next call tries again.
func (c *Contents) Merged(ctx context.Context, files []repo.MergedFile) ([]repo.MergeVerdict, error) {
	inputs, err := c.r.historyInputs(ctx)
	if err != nil {
		return nil, fmt.Errorf("repeat merges: %w", err)
	}
	c.merging.Lock()
	defer c.merging.Unlock()
	if c.merges == nil || c.merges.key != inputs.key {
		c.merges = c.r.loadMerges(inputs.key)
	}
	var asked []*merge
	byCommit := make(map[repo.ID]*merge)
	for _, f := range files {
		if _, known := c.merges.byGit[mergedPath{f.Commit, f.Path}]; known {
			continue
		}
		m := byCommit[f.Commit]
		if m == nil {
			m = &merge{commit: f.Commit, parents: f.Parents}
			byCommit[f.Commit] = m
			asked = append(asked, m)
		}
		m.paths = append(m.paths, f.Path)
	}
	unknown := c.repeat(ctx, inputs, asked)
	if ctx.Err() != nil {
		return nil, command.Stopped(ctx, "repeat merges")
	}
	list := make([]repo.MergeVerdict, len(files))
	for i, f := range files {
		byGit, known := c.merges.byGit[mergedPath{f.Commit, f.Path}]
		switch {
		case !known:
			why := fmt.Sprintf("git cannot repeat the merge %s: %v", f.Commit.Short(), unknown[mergedPath{f.Commit, f.Path}])
			list[i] = repo.MergeVerdict{By: repo.MergeUnknown, Why: why}
		case byGit:
			list[i] = repo.MergeVerdict{By: repo.MergeByGit}
		default:
			list[i] = repo.MergeVerdict{By: repo.MergeByPerson}
		}
	}
	return list, nil
}

// MergeKeeps reports for each path whether a merge of branch into main would leave it unchanged. A path is
// missing in the result if git cannot merge it here.
func (c *Contents) MergeKeeps(ctx context.Context, main, branch repo.ID, paths []repo.Path) (map[repo.Path]bool, error) {
	inputs, err := c.r.historyInputs(ctx)
	if err != nil {
		return nil, fmt.Errorf("merge %s into %s: %w", branch.Short(), main.Short(), err)
	}
	m := &merge{commit: main, parents: []repo.ID{main, branch}, paths: paths}
	byGit, _ := c.r.repeatMerges(ctx, inputs.files, []*merge{m}, &mergeFailures{})
	if ctx.Err() != nil {
		return nil, command.Stopped(ctx, "merge "+branch.Short())
	}
	keeps := make(map[repo.Path]bool)
	for _, p := range paths {
		if same, known := byGit[mergedPath{main, p}]; known {
			keeps[p] = same
		}
	}
	return keeps, nil
}

// A merge is a merge commit to repeat.
type merge struct {
	commit  repo.ID
	parents []repo.ID
	paths   []repo.Path // the requested paths

	// The result of merging the parents again.
	tree      repo.ID
	conflicts map[repo.Path]bool
	err       error // why git cannot repeat the merge
}

// A mergedPath is a path in a merge commit.
type mergedPath struct {
	commit repo.ID
	path   repo.Path
}

// mergesAtOnce is how many merges one git repeats at most. Each of them writes objects to a
// directory that is removed afterwards.
const mergesAtOnce = 32

// batches cuts merges into lists, one for each git. git answers a list as a whole, and a git
// that is ended answers nothing. So the first list is short and each is twice as long as the
// one before: a run that is ended keeps some answers, and the next one gets further.
func batches(merges []*merge) [][]*merge {
	var list [][]*merge
	for size := 1; len(merges) > 0; size = min(2*size, mergesAtOnce) {
		n := min(size, len(merges))
		list = append(list, merges[:n])
		merges = merges[n:]
	}
	return list
}

// repeat repeats merges and caches the verdicts. It returns the errors of the others.
func (c *Contents) repeat(ctx context.Context, inputs historyInputs, merges []*merge) map[mergedPath]error {
	unknown := make(map[mergedPath]error)
	if len(merges) == 0 {
		return unknown
	}
	var mu sync.Mutex
	known := len(c.merges.byGit)
	var workers errgroup.Group
	workers.SetLimit(min(runtime.GOMAXPROCS(0), maxWalkers))
	failures := &mergeFailures{}
	for _, some := range batches(merges) {
		workers.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			byGit, why := c.r.repeatMerges(ctx, inputs.files, some, failures)
			mu.Lock()
			defer mu.Unlock()
			for at, is := range byGit {
				c.merges.byGit[at] = is
			}
			for at, err := range why {
				unknown[at] = err
			}
			return nil
		})
	}
	_ = workers.Wait() // none of them fails
	if len(c.merges.byGit) > known {
		c.r.saveMerges(c.merges)
	}
	return unknown
}

// repeatMerges repeats merges. For each path it returns whether git makes the same content, or the
// error.
func (r *Repo) repeatMerges(ctx context.Context, files historyInputFiles, merges []*merge, failures *mergeFailures) (byGit map[mergedPath]bool, unknown map[mergedPath]error) {
	byGit, unknown = make(map[mergedPath]bool), make(map[mergedPath]error)
	fail := func(m *merge, err error) {
		for _, p := range m.paths {
			unknown[mergedPath{m.commit, p}] = err
		}
	}
	scratch, remove, err := r.scratchRepo(files)
	if err == nil {
		defer remove()
		err = scratch.mergeAll(ctx, merges, failures)
	}
	if errors.Is(err, errOldGit) {
		for _, m := range merges {
			scratch.mergeFiles(ctx, m, byGit, unknown)
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
	var repeated []*merge
	for _, m := range merges {
		if m.err != nil {
			fail(m, m.err)
			continue
		}
		repeated = append(repeated, m)
		for _, p := range m.paths {
			places = append(places, repo.CommitPath{Commit: m.commit, Path: p}, repo.CommitPath{Commit: m.tree, Path: p})
		}
	}
	ids, err := scratch.objects().IDsAt(ctx, distinct(places), nil)
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
		for _, p := range m.paths {
			same := at[repo.CommitPath{Commit: m.commit, Path: p}] == at[repo.CommitPath{Commit: m.tree, Path: p}]
			byGit[mergedPath{m.commit, p}] = same && !m.conflicts[p]
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
