package spec

import (
	"context"
	"errors"
	"slices"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A Listing has a row for every spec of a work tree.
type Listing struct {
	Head  repo.ID      `json:"head"`
	Main  Mainline     `json:"main"`
	Nodes []ListedSpec `json:"nodes"`
	// Unknown has the facts that are unknown for all nodes.
	Unknown []fault.Unknown `json:"unknown"`
}

// A Mainline is the main branch and its commit.
type Mainline struct {
	Name   string  `json:"name"`
	Commit repo.ID `json:"commit"`
}

// ListedSpec is one spec with the facts that git has about it.
type ListedSpec struct {
	NodeJSON
	Status  derive.Status `json:"status"`
	Version *int          `json:"version"`
	Drift   *int          `json:"drift"`
	// Format is the number of drift commits that changed only comments or layout. The gate does not count them.
	Format     int              `json:"format"`
	Touched    *int             `json:"touched"`
	Grade      *fresh.Grade     `json:"grade"`
	DriftFiles []DriftFile      `json:"drift_files"`
	Session    *string          `json:"session"`
	LastEdited *string          `json:"last_edited"`
	Dirty      *bool            `json:"dirty"` // the spec file differs from HEAD
	Overlays   []ProposedChange `json:"overlays"`
	// Missing are the code entries that match no tracked file.
	Missing []string `json:"missing"`
	// Moved are the moves of governed code to paths that no entry matches. They are governed until the spec is edited.
	Moved []derive.MovedFile `json:"-"`
	// Ghost marks a node that exists only in other worktrees.
	Ghost   bool            `json:"ghost,omitempty"`
	Unknown []fault.Unknown `json:"unknown"`
}

// Reaches reports whether the drift that a gate counts has reached its threshold.
func (l *ListedSpec) Reaches(threshold int) bool {
	return l.Drift != nil && *l.Drift-l.Format >= threshold
}

// rawPath returns the path of the spec file.
func (l *ListedSpec) rawPath() repo.Path {
	p, err := l.Raw()
	if err != nil {
		return ""
	}
	return p
}

// ProposedChange is a change of a node that a worktree proposes.
type ProposedChange struct {
	Worktree  string  `json:"worktree"`
	Session   string  `json:"session"`
	Op        OpKind  `json:"op"`
	Committed bool    `json:"committed"`
	Dirty     bool    `json:"dirty"`
	From      *string `json:"from"` // set for a move
	To        *string `json:"to"`
}

// A DriftFile is a governed file that changed since its spec was edited or acknowledged.
type DriftFile struct {
	File   string `json:"file"`
	Behind int    `json:"behind"`
}

// NeedsAttention reports whether any node has drift, a problem, a missing entry, or an unknown fact.
func (l *Listing) NeedsAttention() bool {
	for _, n := range l.Nodes {
		hasDrift := n.Drift != nil && *n.Drift > 0
		isUnknown := n.Status == derive.StatusUnknown || len(n.Unknown) > 0
		if hasDrift || isUnknown || len(n.Problems)+len(n.Missing) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(l.Unknown, func(u fault.Unknown) bool { return u.What == derive.FactIndex })
}

// List returns the facts from git about every spec, and the changes that
// worktrees propose. A fact that cannot be computed is unknown, with the reason,
// and not an error. If no input changed, List returns the cached answer;
// otherwise it reuses the facts of specs whose own inputs did not change.
func (r *Reader) List(ctx context.Context) (*Listing, error) {
	l, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	return l, r.addIndexFacts(ctx, l)
}

// HasCachedListing reports whether there is a cached listing, valid or not. With one, List reads only the new commits, not
// the whole history.
func (r *Reader) HasCachedListing() bool { return r.loadListing() != nil }

// list is List without the facts from the index.
func (r *Reader) list(ctx context.Context) (*Listing, error) {
	o, err := r.readState(ctx)
	if err != nil {
		return nil, err
	}
	k := r.loadListing()
	same := k != nil && r.sameFiles(ctx, k)
	if same && r.isValid(ctx, o, k) {
		if l := k.listing(); l != nil {
			return l, nil
		}
	}
	l, err := r.makeListing(ctx, o, k, same)
	if errors.Is(err, errSpecsMoved) {
		return r.makeListing(ctx, o, k, false)
	}
	return l, err
}

// makeListing derives a listing. It reuses the cached listing k where it is still valid. same says that the spec
// files are certainly those that k was made from.
func (r *Reader) makeListing(ctx context.Context, o *repoState, k *cachedListing, same bool) (*Listing, error) {
	t, err := r.readTree(ctx, o, k, same)
	if err != nil {
		return nil, err
	}
	l := &Listing{Head: o.head, Main: o.main, Nodes: []ListedSpec{}, Unknown: append([]fault.Unknown{}, o.unknown...)}
	h, err := r.history(ctx, o)
	if ctx.Err() != nil {
		return nil, ctx.Err() // prefer the cancellation error even if the result is complete
	}
	if err != nil && o.headErr == nil {
		l.addUnknown(derive.FactHistory, err)
	}
	facts, err := r.factsOfTree(ctx, t, o.head, h, err)
	if err != nil {
		return nil, err
	}
	if err := r.addRows(ctx, t, o, l); err != nil {
		return nil, err
	}
	stats := map[string]repo.StatDigest{ownCheckout: t.stats}
	certain := len(l.Unknown) == 0 && t.outlineErr == nil
	if h != nil {
		files, err := r.proposingFiles(ctx, o, t)
		if err != nil {
			return nil, err
		}
		p, err := r.propose(ctx, o, h, files)
		if ctx.Err() != nil {
			return nil, ctx.Err() // prefer the cancellation error even if the result is complete
		}
		if err != nil {
			l.addUnknown(derive.FactOverlay, err)
			certain = false
		} else {
			l.addProposals(p, facts)
			p.addStats(stats)
			certain = certain && p.certain()
		}
	}
	if certain {
		r.saveListing(o, stats, l, t.newInputs())
	}
	return l, nil
}

func (l *Listing) addUnknown(fact string, err error) {
	l.Unknown = append(l.Unknown, fault.NewUnknown(fact, err))
}

// history returns the history of all checkouts, or that of this one if a head of another cannot be read. Without a
// HEAD it returns the error of reading it.
func (r *Reader) history(ctx context.Context, o *repoState) (derive.History, error) {
	if o.headErr != nil {
		return nil, o.headErr
	}
	h, err := r.readHistory(ctx, o.heads())
	if err == nil || ctx.Err() != nil || len(o.heads()) < 2 {
		return h, err
	}
	if h, again := r.readHistory(ctx, []repo.ID{o.head}); again == nil {
		return h, nil
	}
	return nil, err
}

// dirty reports which files differ from HEAD, and how many specs HEAD has. The map is nil if that is unknown; the
// reason is added to l.
func (r *Reader) dirty(
	ctx context.Context, files []repo.LoadedFile, o *repoState, l *Listing,
) (dirty map[repo.Path]bool, specs int) {
	var committed FileIDs
	err := o.headErr
	if err == nil {
		committed, err = r.specsAt(ctx, o.head)
	}
	if err != nil {
		l.addUnknown(derive.FactDirty, err)
		return nil, 0
	}
	dirty = make(map[repo.Path]bool)
	for _, f := range files {
		id := committed[f.Path]
		dirty[f.Path] = id.IsZero() || !r.isStored(f, id)
	}
	return dirty, len(committed)
}

// isStored reports whether git would store a file as the given blob.
func (r *Reader) isStored(f repo.LoadedFile, id repo.ID) bool {
	if !f.ID.IsZero() {
		return f.ID == id
	}
	return r.ws.BytesOfBlob(f.Content, id) != nil
}

// blob returns the blob id of a file as it is, without filters.
func (r *Reader) blob(f repo.LoadedFile) repo.ID {
	if !f.ID.IsZero() {
		return f.ID
	}
	return r.ws.Git.ObjectFormat().Blob(f.Content)
}

// factsAmong derives the facts about some of the nodes of a tree at a commit. If the history cannot be read, all
// facts are unknown.
func (r *Reader) factsAmong(ctx context.Context, some, all []*parse.Node, head repo.ID) ([]derive.Facts, error) {
	return r.factsWith(ctx, some, all, r.deriveOptions(head))
}

// factsWith is factsAmong with other options.
func (r *Reader) factsWith(ctx context.Context, some, all []*parse.Node, opts derive.Options) ([]derive.Facts, error) {
	h, err := r.readHistory(ctx, []repo.ID{opts.Head})
	if ctx.Err() != nil {
		return nil, ctx.Err() // prefer the cancellation error even if the result is complete
	}
	if err != nil {
		return derive.AllUnknown(some, err.Error()), nil
	}
	d, err := derive.SomeFacts(ctx, some, all, opts, h, r.ws.Git.Contents())
	return d.Facts, err
}

// deriveOptions returns the options to derive all facts at a commit.
func (r *Reader) deriveOptions(head repo.ID) derive.Options {
	return derive.Options{Head: head, Outlines: r.ws.BlobOutlines, Commits: true}
}

func listedOf(f *derive.Facts, dirty *bool) ListedSpec {
	out := ListedSpec{
		NodeJSON: nodeJSON(f.Node), Status: f.Status,
		Version: f.Version, Drift: f.Drift, Format: f.FormatCommits(), Touched: f.Touched, DriftFiles: []DriftFile{},
		Session: f.Session, LastEdited: f.LastEdited,
		Dirty: dirty, Overlays: []ProposedChange{}, Missing: []string{},
		Moved: append([]derive.MovedFile{}, f.Moved...), Unknown: append([]fault.Unknown{}, f.Unknown...),
	}
	out.Problems = append(out.Problems, f.Problems...)
	if f.Grade != "" {
		out.Grade = &f.Grade
	}
	for _, b := range f.DriftFiles {
		out.DriftFiles = append(out.DriftFiles, DriftFile{b.Path.String(), b.Commits})
	}
	return out
}

// InConflict reports whether the spec has an unresolved merge: the index has it as unmerged, or the file has
// conflict markers.
func (l *ListedSpec) InConflict() bool { return parse.HasConflict(l.Problems) }
