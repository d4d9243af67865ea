package spec

import (
	"context"
	"errors"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Listing is what is known about every node of a work tree.
type Listing struct {
	Head  repo.ID  `json:"head"`
	Main  Mainline `json:"main"`
	Nodes []Listed `json:"nodes"`
	// Unknown is what could not be learnt about any of them.
	Unknown []Unknown `json:"unknown"`
}

// A Mainline is the branch that is canonical.
type Mainline struct {
	Name   string  `json:"name"`
	Commit repo.ID `json:"commit"`
}

// Listed is one node with what git says about it.
type Listed struct {
	Described
	Status     Status       `json:"status"`
	Version    *int         `json:"version"`
	Drift      *int         `json:"drift"`
	Touched    *int         `json:"touched"`
	Grade      *fresh.Grade `json:"grade"`
	DriftFiles []DriftFile  `json:"drift_files"`
	Session    *string      `json:"session"`
	LastEdited *string      `json:"last_edited"`
	Dirty      *bool        `json:"dirty"` // the file is not as HEAD has it
	Overlays   []Proposed   `json:"overlays"`
	// Missing are the entries of its code that name nothing that git tracks.
	Missing []string `json:"missing"`
	// Ghost marks a node that only other worktrees have.
	Ghost   bool      `json:"ghost,omitempty"`
	Unknown []Unknown `json:"unknown"`
}

// Proposed is what a worktree would do to a node.
type Proposed struct {
	Worktree  string  `json:"worktree"`
	Session   string  `json:"session"`
	Op        OpKind  `json:"op"`
	Committed bool    `json:"committed"`
	Dirty     bool    `json:"dirty"`
	From      *string `json:"from"` // of a move
	To        *string `json:"to"`
}

// A DriftFile is a governed file that moved ahead of its spec.
type DriftFile struct {
	File   string `json:"file"`
	Behind int    `json:"behind"`
}

// Wanting reports whether any node drifted, is broken, misses its code, or cannot be judged.
func (l *Listing) Wanting() bool {
	for _, n := range l.Nodes {
		if n.Drift != nil && *n.Drift > 0 || n.Status == StatusUnknown || len(n.Problems) > 0 || len(n.Missing) > 0 || len(n.Unknown) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(l.Unknown, func(u Unknown) bool { return u.Fact == FactIndex })
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
	return l, r.stand(ctx, l)
}

// Listed reports whether a listing was kept, whatever has happened since: then the next one
// walks what is new, and not all of the history.
func (r *Reader) Listed() bool { return r.loadListing() != nil }

// list is List without what the index says.
func (r *Reader) list(ctx context.Context) (*Listing, error) {
	o, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	k := r.loadListing()
	same := k != nil && r.sameFiles(ctx, k)
	if same && r.holds(ctx, o, k) {
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

// makeListing derives a listing, in part from the one that was kept; same says that the
// specs are surely those that it was made from.
func (r *Reader) makeListing(ctx context.Context, o *repoState, k *keptListing, same bool) (*Listing, error) {
	t, err := r.readTree(ctx, o, k, same)
	if err != nil {
		return nil, err
	}
	l := &Listing{Head: o.head, Main: o.main, Nodes: []Listed{}, Unknown: append([]Unknown{}, o.unknown...)}
	h, err := r.history(ctx, o)
	if ctx.Err() != nil {
		return nil, ctx.Err() // also of what came just in time
	}
	if err != nil && o.lost == nil {
		l.unknown(FactHistory, err)
	}
	facts, err := r.renew(ctx, t, o.head, h, err)
	if err != nil {
		return nil, err
	}
	if err := r.describe(ctx, t, o, l); err != nil {
		return nil, err
	}
	looks := map[string]repo.StatDigest{hereLook: t.look}
	certain := len(l.Unknown) == 0 && t.doubt == nil
	if h != nil {
		files, err := r.proposing(ctx, o, t)
		if err != nil {
			return nil, err
		}
		p, err := r.propose(ctx, o, h, files)
		if ctx.Err() != nil {
			return nil, ctx.Err() // also of what came just in time
		}
		if err != nil {
			l.unknown(FactOverlay, err)
			certain = false
		} else {
			l.lay(p, facts)
			p.looks(looks)
			certain = certain && p.certain()
		}
	}
	if certain {
		r.remember(o, looks, l, t.ground())
	}
	return l, nil
}

func (l *Listing) unknown(fact string, err error) {
	l.Unknown = append(l.Unknown, Unknown{fact, err.Error()})
}

// history reads what all checkouts stand on; if that cannot be read, what this one
// does. Without a HEAD nothing stands on anything.
func (r *Reader) history(ctx context.Context, o *repoState) (History, error) {
	if o.lost != nil {
		return nil, o.lost
	}
	h, err := r.past.History(ctx, o.heads())
	if err == nil || ctx.Err() != nil || len(o.heads()) < 2 {
		return h, err
	}
	if h, again := r.past.History(ctx, []repo.ID{o.head}); again == nil {
		return h, nil
	}
	return nil, err
}

// dirty says which files are not as HEAD has them, nil when that is not known, and how
// many specs HEAD has.
func (r *Reader) dirty(ctx context.Context, files []repo.LoadedFile, o *repoState, l *Listing) (dirty map[repo.Path]bool, specs int) {
	var committed Set
	err := o.lost
	if err == nil {
		committed, err = r.past.SpecsAt(ctx, o.head)
	}
	if err != nil {
		l.unknown(FactDirty, err)
		return nil, 0
	}
	dirty = make(map[repo.Path]bool)
	for _, f := range files {
		id := committed[f.Path]
		dirty[f.Path] = id.IsZero() || !r.isStored(f, id)
	}
	return dirty, len(committed)
}

// isStored reports whether git would store a file as that content.
func (r *Reader) isStored(f repo.LoadedFile, id repo.ID) bool {
	if !f.ID.IsZero() {
		return f.ID == id
	}
	return r.past.Stored(f.Content, id)
}

// blob names a file as git would, if it stored it as it is.
func (r *Reader) blob(f repo.LoadedFile) repo.ID {
	if !f.ID.IsZero() {
		return f.ID
	}
	return r.past.Blob(f.Content)
}

// facts derives what git says about nodes at a commit, or says of every node that
// nothing is known.
func (r *Reader) facts(ctx context.Context, nodes []*Node, head repo.ID) ([]Facts, error) {
	return r.factsAmong(ctx, nodes, nodes, head)
}

// factsAmong is facts for some of the nodes of a tree.
func (r *Reader) factsAmong(ctx context.Context, some, all []*Node, head repo.ID) ([]Facts, error) {
	h, err := r.past.History(ctx, []repo.ID{head})
	if ctx.Err() != nil {
		return nil, ctx.Err() // also of what came just in time
	}
	if err != nil {
		return Unread(some, err.Error()), nil
	}
	d, err := deriveSome(ctx, some, all, r.standAt(head), h, r.past.Contents())
	return d.facts, err
}

// standAt is where the reader judges from.
func (r *Reader) standAt(head repo.ID) JudgedAt { return JudgedAt{Head: head, Outlines: r.past} }

func (f *Facts) listed(dirty *bool) Listed {
	out := Listed{
		Described: f.Node.Describe(), Status: f.Status,
		Version: f.Version, Drift: f.Drift, Touched: f.Touched, DriftFiles: []DriftFile{},
		Session: f.Session, LastEdited: f.LastEdited,
		Dirty: dirty, Overlays: []Proposed{}, Missing: []string{}, Unknown: append([]Unknown{}, f.Unknown...),
	}
	out.Problems = append(out.Problems, f.Problems...)
	if f.Grade != "" {
		out.Grade = &f.Grade
	}
	for _, b := range f.DriftFiles {
		out.DriftFiles = append(out.DriftFiles, DriftFile{b.Path.String(), b.Behind})
	}
	return out
}
