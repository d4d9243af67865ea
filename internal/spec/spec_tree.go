package spec

import (
	"context"
	"errors"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A specTree is the specs of a checkout, read from the files or taken from the cache.
type specTree struct {
	nodes     []*parse.Node
	stats     repo.StatDigest
	blobs     []repo.ID         // by node
	files     []repo.LoadedFile // the spec files, if filesRead is set
	filesRead bool              // files is set

	// The cached listing and its inputs, for the same nodes in the same order; nil without them.
	cached       *Listing
	cachedInputs *listingInputs
	cachedRows   []*ListedSpec // the cached rows of the nodes; proposals of worktrees are ignored
	unchanged    bool          // the spec files are unchanged since the cached listing

	facts        []derive.Facts // by node
	valid        []bool         // by node: the cached row is still valid
	specsChanged bool           // a spec file changed in git
	committed    int            // the number of specs in HEAD
	watched      map[repo.Path]bool
	outlineErr   error // why code could not be graded; such a listing is not cached
}

// readTree returns the specs of the checkout. If same says that the spec files are unchanged since the cached listing k,
// readTree takes the specs from k. Otherwise it reads the files.
func (r *Reader) readTree(ctx context.Context, o *repoState, k *cachedListing, same bool) (*specTree, error) {
	t := &specTree{}
	if k != nil && len(o.unknown) == 0 && k.View == o.view {
		if t.cached = k.listing(); t.cached != nil {
			t.cachedInputs = k.inputs()
		}
	}
	t.unchanged = same && t.cachedInputs != nil
	if t.unchanged {
		t.stats = k.Stats[ownCheckout]
		for i := range t.cachedInputs.Nodes {
			t.nodes = append(t.nodes, t.cachedInputs.Nodes[i].node())
			t.blobs = append(t.blobs, t.cachedInputs.Nodes[i].Blob)
		}
	} else if err := r.makeNodes(ctx, t); err != nil {
		return nil, err
	}
	t.matchRows()
	return t, nil
}

// errSpecsMoved reports that spec files changed after the nodes of a tree were taken from the cache.
var errSpecsMoved = errors.New("the specs changed while being read")

// readFiles reads the spec files of a tree, once, so that one answer never mixes two versions of a file. If the
// nodes come from the cache and the files have changed since, it returns errSpecsMoved.
func (r *Reader) readFiles(ctx context.Context, t *specTree) error {
	if t.filesRead {
		return nil
	}
	files, stats, err := r.specs(ctx)
	if err != nil {
		return err
	}
	if t.unchanged && !stats.Equal(t.stats) {
		return errSpecsMoved
	}
	t.files, t.stats, t.filesRead = files, stats, true
	return nil
}

// makeNodes parses the spec files of a tree.
func (r *Reader) makeNodes(ctx context.Context, t *specTree) error {
	if err := r.readFiles(ctx, t); err != nil {
		return err
	}
	var err error
	if t.nodes, err = parse.LoadContext(ctx, t.files); err != nil {
		return err
	}
	ids := r.blobIDs(t.files)
	for _, n := range t.nodes {
		t.blobs = append(t.blobs, ids[n.Path])
	}
	return nil
}

// addRows adds a row for each node to a listing.
func (r *Reader) addRows(ctx context.Context, t *specTree, o *repoState, l *Listing) error {
	var dirty map[repo.Path]bool
	reuse := t.unchanged && !t.specsChanged && slices.Contains(t.valid, true)
	if !reuse {
		if err := r.readFiles(ctx, t); err != nil {
			return err
		}
		dirty, t.committed = r.dirty(ctx, t.files, o, l)
	} else {
		t.committed = t.cachedInputs.Committed
	}
	for i := range t.nodes {
		var is *bool
		if reuse {
			is = t.cachedRows[i].Dirty
		} else if dirty != nil {
			is = new(dirty[t.nodes[i].Path])
		}
		if !t.valid[i] {
			l.Nodes = append(l.Nodes, listedOf(&t.facts[i], is))
			continue
		}
		shown := *t.cachedRows[i]
		shown.Status, shown.Dirty, shown.Overlays = t.facts[i].Status, is, []ProposedChange{}
		l.Nodes = append(l.Nodes, shown)
	}
	return nil
}

// proposingFiles returns the spec files of the checkout, if it is not on the main branch and so may propose changes.
func (r *Reader) proposingFiles(ctx context.Context, o *repoState, t *specTree) ([]repo.LoadedFile, error) {
	if slices.ContainsFunc(o.trees, func(w worktree) bool { return w.Here && !w.on(o.main.Name) }) {
		if err := r.readFiles(ctx, t); err != nil {
			return nil, err
		}
	}
	return t.files, nil
}
