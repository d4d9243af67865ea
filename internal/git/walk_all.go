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
	// maxWalkers is the number of git processes that walk a history in parallel. One goroutine processes their
	// commits.
	maxWalkers = 4
	// minPart is the smallest number of commits for a git process.
	minPart = 2_000
)

// walkAll is Walk over all commits that heads reach, in any order. For a long history it runs several git processes, since
// git compares trees on a single core and that takes most of the time.
func (r *Repo) walkAll(ctx context.Context, heads []repo.ID, keys []string, f func(repo.Commit) error) error {
	workers := min(runtime.GOMAXPROCS(0), maxWalkers)
	if workers < 2 {
		return r.Walk(ctx, heads, nil, keys, f)
	}
	commits, err := r.reachable(ctx, heads)
	if err != nil || len(commits) < 2*minPart {
		return r.Walk(ctx, heads, nil, keys, f) // it reports the better error
	}
	// Several parts per worker, so that a fast worker can take more of them.
	return r.walkParts(ctx, commits, max(minPart, len(commits)/(4*workers)+1), workers, keys, f)
}

// reachable returns the ids of all commits that heads reach, each with a newline.
func (r *Repo) reachable(ctx context.Context, heads []repo.ID) ([]string, error) {
	var revisions bytes.Buffer
	for _, id := range heads {
		fmt.Fprintf(&revisions, "%s\n", id)
	}
	out, err := r.git().Read(ctx, &revisions, "rev-list", "--stdin", "--")
	if err != nil {
		return nil, err
	}
	return strings.SplitAfter(strings.TrimSuffix(out, "\n"), "\n"), nil
}

// walkParts splits commits into parts of a size, one per git process, and calls f with one commit at a time. Neighbouring
// commits share most of their trees, so a part consists of neighbours.
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
