package spec

import (
	"context"

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
	Dirty      bool         `json:"dirty"` // the file is not as HEAD has it
	Unknown    []Unknown    `json:"unknown"`
}

// A DriftFile is a governed file that moved ahead of its spec.
type DriftFile struct {
	File   string `json:"file"`
	Behind int    `json:"behind"`
}

// Wanting reports whether any node drifted, is broken, or cannot be judged.
func (l *Listing) Wanting() bool {
	for _, n := range l.Nodes {
		if n.Status == StatusDrift || n.Status == StatusUnknown || len(n.Problems) > 0 || len(n.Unknown) > 0 {
			return true
		}
	}
	return false
}

// List derives what git says about every node. What cannot be learnt is unknown,
// with the reason, and no error.
func (r *Reader) List(ctx context.Context) (*Listing, error) {
	files, err := r.src.Specs(ctx)
	if err != nil {
		return nil, err
	}
	nodes := Load(files)
	head, err := r.past.Head(ctx)
	if err != nil {
		return nil, err
	}
	l := &Listing{Head: head.Commit, Nodes: []Listed{}, Unknown: []Unknown{}}
	if l.Main.Name, l.Main.Commit, err = r.past.Mainline(ctx); err != nil {
		l.Unknown = append(l.Unknown, Unknown{"main", err.Error()})
	}
	facts, err := r.facts(ctx, nodes, head.Commit, l)
	if err != nil {
		return nil, err
	}
	committed, err := r.past.SpecsAt(ctx, head.Commit)
	if err != nil {
		l.Unknown = append(l.Unknown, Unknown{"dirty", err.Error()})
	}
	now := make(map[repo.Path][]byte, len(files))
	for _, f := range files {
		now[f.Path] = f.Content
	}
	for _, f := range facts {
		dirty := committed != nil && !r.past.Stored(now[f.Node.Path], committed[f.Node.Path])
		l.Nodes = append(l.Nodes, f.listed(dirty))
	}
	return l, nil
}

// facts derives, or says of every node that nothing is known.
func (r *Reader) facts(ctx context.Context, nodes []*Node, head repo.ID, l *Listing) ([]Facts, error) {
	var heads []repo.ID
	if !head.IsZero() {
		heads = []repo.ID{head}
	}
	h, err := r.past.History(ctx, heads)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		l.Unknown = append(l.Unknown, Unknown{"history", err.Error()})
		return Unread(nodes, err.Error()), nil
	}
	return Derive(ctx, nodes, Standpoint{Head: head}, h, r.past.Contents())
}

func (f Facts) listed(dirty bool) Listed {
	out := Listed{
		Described: f.Node.Describe(), Status: f.Status,
		Version: f.Version, Drift: f.Drift, Touched: f.Touched, DriftFiles: []DriftFile{},
		Session: f.Session, LastEdited: f.LastEdited,
		Dirty: dirty, Unknown: append([]Unknown{}, f.Unknown...),
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
