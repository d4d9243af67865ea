package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ken/internal/git/objects"
	"ken/internal/repo"
)

// Contents finds the content ids of paths in commits, and caches them in memory. Several goroutines may use it.
type Contents struct {
	r *Repo

	mu    sync.Mutex
	known map[repo.CommitPath]repo.ID
	ready *objects.Prepared // started by Prepare and not used yet

	merging sync.Mutex
	merges  *mergeVerdicts // nil before the first call of Merged
}

// Contents returns the content ids of the repository's commits.
func (r *Repo) Contents() *Contents { return &Contents{r: r, known: make(map[repo.CommitPath]repo.ID)} }

// Prepare starts the git process for the first call of At, which the caller is still preparing. Release ends the
// process if it was not used.
func (c *Contents) Prepare(ctx context.Context) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil {
		c.ready = c.r.objects().Prepare(ctx)
	}
	mine := c.ready
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ready == mine {
			c.ready = nil
			mine.Close()
		}
	}
}

// At returns the content id at each place: the blob of a file, the tree of a directory, the commit of a submodule,
// or zero if nothing is there. Git does not need to have the content. A missing commit or tree is an error.
func (c *Contents) At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	ids := make([]repo.ID, len(places))
	var asked []repo.CommitPath
	seen := make(map[repo.CommitPath]bool)
	c.mu.Lock()
	for i, p := range places {
		id, ok := c.known[p]
		if ids[i] = id; !ok && !seen[p] {
			seen[p] = true
			asked = append(asked, p)
		}
	}
	var ready *objects.Prepared
	if len(asked) > 0 {
		ready, c.ready = c.ready, nil
	}
	c.mu.Unlock()
	if len(asked) == 0 {
		return ids, nil
	}
	found, err := c.r.objects().IDsAt(ctx, asked, ready)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range asked {
		c.known[p] = found[i]
	}
	for i, p := range places {
		ids[i] = c.known[p]
	}
	return ids, nil
}

// Blobs returns contents by their ids, see [objects.Reader.Blobs].
func (r *Repo) Blobs(ctx context.Context, ids []repo.ID) ([][]byte, error) {
	return r.objects().Blobs(ctx, ids)
}

// EachBlob calls visit with contents and their sizes, see [objects.Reader.EachBlob].
func (r *Repo) EachBlob(ctx context.Context, ids []repo.ID, visit func(i int, content []byte, size int64)) error {
	return r.objects().EachBlob(ctx, ids, visit)
}

// Lacking returns those of some contents that a partial clone does not have. It asks git only in a partial clone. Git
// marks the packs of one, and fetches nothing here.
func (r *Repo) Lacking(ctx context.Context, ids []repo.ID) (map[repo.ID]bool, error) {
	packs, err := os.ReadDir(filepath.Join(r.common, "objects", "pack"))
	isMark := func(f os.DirEntry) bool { return filepath.Ext(f.Name()) == ".promisor" }
	if err != nil || len(ids) == 0 || !slices.ContainsFunc(packs, isMark) {
		return nil, err
	}
	sizes, err := r.Sizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	lacking := make(map[repo.ID]bool)
	for i, size := range sizes {
		if size < 0 {
			lacking[ids[i]] = true
		}
	}
	return lacking, nil
}

// Sizes returns the sizes of contents, see [objects.Reader.Sizes].
func (r *Repo) Sizes(ctx context.Context, ids []repo.ID) ([]int64, error) {
	return r.objects().Sizes(ctx, ids)
}
