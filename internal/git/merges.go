package git

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"ken/internal/git/command"
	"ken/internal/git/remerge"
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
	var asked []*remerge.Merge
	byCommit := make(map[repo.ID]*remerge.Merge)
	for _, f := range files {
		if _, known := c.merges.byGit[repo.CommitPath{Commit: f.Commit, Path: f.Path}]; known {
			continue
		}
		m := byCommit[f.Commit]
		if m == nil {
			m = &remerge.Merge{Commit: f.Commit, Parents: f.Parents, From: make(map[repo.Path][]repo.Path)}
			byCommit[f.Commit] = m
			asked = append(asked, m)
		}
		m.Paths = append(m.Paths, f.Path)
		m.From[f.Path] = f.From
	}
	unknown := c.repeat(ctx, inputs, asked)
	if ctx.Err() != nil {
		return nil, command.Stopped(ctx, "repeat merges")
	}
	list := make([]repo.MergeVerdict, len(files))
	for i, f := range files {
		at := repo.CommitPath{Commit: f.Commit, Path: f.Path}
		byGit, known := c.merges.byGit[at]
		switch {
		case !known:
			list[i].Why = fmt.Sprintf("git cannot repeat the merge %s: %v", f.Commit.Short(), unknown[at])
		case byGit:
			list[i].By = repo.MergeByGit
		default:
			list[i].By = repo.MergeByPerson
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
	m := &remerge.Merge{Commit: main, Parents: []repo.ID{main, branch}, Paths: paths}
	byGit, _ := remerge.Repeat(ctx, c.r.mergeSource(inputs), []*remerge.Merge{m}, &remerge.Failures{})
	if ctx.Err() != nil {
		return nil, command.Stopped(ctx, "merge "+branch.Short())
	}
	keeps := make(map[repo.Path]bool)
	for _, p := range paths {
		if same, known := byGit[repo.CommitPath{Commit: main, Path: p}]; known {
			keeps[p] = same
		}
	}
	return keeps, nil
}

// mergesAtOnce is how many merges one git repeats at most. Each of them writes objects to a
// directory that is removed afterwards.
const mergesAtOnce = 32

// batches cuts merges into lists, one for each git. git answers a list as a whole, and a git
// that is ended answers nothing. So the first list is short and each is twice as long as the
// one before: a run that is ended keeps some answers, and the next one gets further.
func batches(merges []*remerge.Merge) [][]*remerge.Merge {
	var list [][]*remerge.Merge
	for size := 1; len(merges) > 0; size = min(2*size, mergesAtOnce) {
		n := min(size, len(merges))
		list = append(list, merges[:n])
		merges = merges[n:]
	}
	return list
}

// repeat repeats merges and caches the verdicts. It returns the errors of the others.
func (c *Contents) repeat(ctx context.Context, inputs historyInputs, merges []*remerge.Merge) map[repo.CommitPath]error {
	unknown := make(map[repo.CommitPath]error)
	var mu sync.Mutex
	known := len(c.merges.byGit)
	var workers errgroup.Group
	workers.SetLimit(min(runtime.GOMAXPROCS(0), maxWalkers))
	failures := &remerge.Failures{}
	for _, some := range batches(merges) {
		workers.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			byGit, why := remerge.Repeat(ctx, c.r.mergeSource(inputs), some, failures)
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

// mergeSource returns the inputs for repeating merges of this repository.
func (r *Repo) mergeSource(in historyInputs) remerge.Source {
	return remerge.Source{
		Objects: filepath.Join(r.common, "objects"), Format: r.format,
		Shallow: in.files.shallow, Grafts: in.files.grafts, Replaced: in.files.replaced,
	}
}
