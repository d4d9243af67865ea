package git

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"ken/internal/repo"
)

const (
	// maxWalkers is how many gits walk a history at a time: what they find has to
	// be taken by one of us.
	maxWalkers = 4
	// minPart is how many commits are worth a git of their own.
	minPart = 2_000
)

// walkAll is Walk over all that heads reach, in any order. Of a long history, several
// gits tell a part each: nearly all of the time goes into comparing trees, and a git
// does that on one core.
func (r *Repo) walkAll(ctx context.Context, heads []repo.ID, keys []string, f func(repo.Commit) error) error {
	workers := min(runtime.GOMAXPROCS(0), maxWalkers)
	if workers < 2 {
		return r.Walk(ctx, heads, nil, keys, f)
	}
	commits, err := r.reachable(ctx, heads)
	if err != nil || len(commits) < 2*minPart {
		return r.Walk(ctx, heads, nil, keys, f) // which may say better why not
	}
	// Parts of their own for the slower worker to leave to the faster one.
	return r.walkParts(ctx, commits, max(minPart, len(commits)/(4*workers)+1), workers, keys, f)
}

// reachable lists the ids of all commits that heads reach, each with a line end.
func (r *Repo) reachable(ctx context.Context, heads []repo.ID) ([]string, error) {
	var revisions bytes.Buffer
	for _, id := range heads {
		fmt.Fprintf(&revisions, "%s\n", id)
	}
	out, err := r.read(ctx, &revisions, "rev-list", "--stdin", "--")
	if err != nil {
		return nil, err
	}
	return strings.SplitAfter(strings.TrimSuffix(out, "\n"), "\n"), nil
}

// walkParts walks commits one by one, so many to a git, and calls f with them, one at
// a time. Those that lie together have most of their trees in common, and stay so.
func (r *Repo) walkParts(ctx context.Context, commits []string, size, workers int, keys []string, f func(repo.Commit) error) error {
	var mu sync.Mutex
	one := func(c repo.Commit) error {
		mu.Lock()
		defer mu.Unlock()
		return f(c)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for len(commits) > 0 && ctx.Err() == nil {
		part := commits[:min(size, len(commits))]
		commits = commits[len(part):]
		g.Go(func() error {
			return r.walk(ctx, strings.NewReader(strings.Join(part, "")+"\n"), []string{"--no-walk=unsorted"}, walkFormat, keys, one)
		})
	}
	return g.Wait()
}
