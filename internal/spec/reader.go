package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// A Source is the work tree that specs are read from.
type Source interface {
	Files
	// Tracked lists what git tracks, by path, each path once.
	Tracked(ctx context.Context) ([]repo.Entry, error)
	// IndexStamp names the state that git's index is in, "" when nothing tells it from
	// another. It costs a fraction of what Tracked does.
	IndexStamp(ctx context.Context) string
	// Edited returns those of some tracked files that are not what the index says, as
	// they lie there; nil for one that is gone, is no file, or has more than most bytes.
	Edited(ctx context.Context, entries []repo.Entry, most int64) (map[repo.Path][]byte, error)
	// Covered reports whether a file is source code that a spec should know.
	Covered(path repo.Path) bool
	// Create writes a file that is not there yet.
	Create(path repo.Path, content []byte) error
}

// A Reader answers for the specs of one work tree.
type Reader struct {
	src  Source
	past HistorySource
	memo Memo
}

// NewReader returns the reader of a work tree and the history behind it, which
// keeps its answers in memo.
func NewReader(src Source, past HistorySource, memo Memo) *Reader { return &Reader{src, past, memo} }

// Nodes returns the nodes of the work tree, sorted by path. No tree is no nodes.
func (r *Reader) Nodes(ctx context.Context) ([]*Node, error) {
	files, _, err := r.src.Specs(ctx)
	if err != nil {
		return nil, err
	}
	return loadNodes(ctx, files)
}

// Node returns the node of an id.
func (r *Reader) Node(ctx context.Context, id string) (*Node, error) {
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(nodes, func(n *Node) bool { return n.ID == id })
	if i >= 0 {
		return nodes[i], nil
	}
	return nil, unknownNode(nodes, id)
}

// A Shown is one node with its text and what git says about it.
type Shown struct {
	*Listed
	Body  string `json:"body"`
	Parts *Parts `json:"parts"`
}

// Show returns the node of an id, with its text and what git says about it.
func (r *Reader) Show(ctx context.Context, id string) (*Shown, error) {
	n, err := r.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	l, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(l.Nodes, func(other Listed) bool { return other.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%s changed while ken read it; try again", n.Path)
	}
	return &Shown{&l.Nodes[i], n.Body, n.Parts}, nil
}

// unknownNode refuses an id, and names those that it may have been meant for.
func unknownNode(nodes []*Node, id string) error {
	var meant []string
	for _, n := range nodes {
		_, slip := suggest.Slip(n.ID, id)
		if id != "" && (slip || strings.Contains(strings.ToLower(n.ID), strings.ToLower(id))) {
			meant = append(meant, n.ID)
		}
	}
	hint := "list specs: ken spec ls"
	if len(meant) > 0 {
		hint = "did you mean " + strings.Join(meant[:min(len(meant), shownPaths)], ", ") + "?"
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: &UnknownSpecError{ID: id, Near: meant}}
}

// Owners says who has a say about each path.
func (r *Reader) Owners(ctx context.Context, paths []repo.Path) ([]Ownership, error) {
	x, err := r.index(ctx)
	if err != nil {
		return nil, err
	}
	if owners, ok := x.owners(paths); ok {
		return owners, nil
	}
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return Owners(nodes, paths), nil
}

// Lint checks the tree against the files that git tracks, as they lie in the work tree.
func (r *Reader) Lint(ctx context.Context) (LintResult, error) {
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return LintResult{}, err
	}
	tracked, err := r.src.Tracked(ctx)
	if err != nil {
		return LintResult{}, err
	}
	paths := pathsOf(tracked)
	opts := LintOptions{Tracked: paths, parts: newLocator(paths)}
	for i := range tracked {
		e := &tracked[i]
		if e.Flags.Has(repo.Conflicted) {
			opts.Unmerged = append(opts.Unmerged, e.Path)
		}
		if len(nodes) > 0 && !e.Path.Under(Root) && r.src.Covered(e.Path) {
			opts.Sources = append(opts.Sources, e.Path)
		}
	}
	opts.Outlines, err = r.symbolOutlines(ctx, nodes, tracked, opts.parts)
	if err != nil {
		return LintResult{}, err
	}
	found, err := Lint(ctx, nodes, opts)
	if err != nil {
		return LintResult{}, err
	}
	l, err := r.List(ctx)
	if err != nil {
		return LintResult{}, err
	}
	found.addHistory(nodes, l)
	stray, err := r.strayAcks(ctx, l)
	found.Warnings = append(found.Warnings, stray...)
	return found, err
}

// addHistory adds what the history shows of nodes: a warning for each problem that a listing
// has and no finding says.
func (l *LintResult) addHistory(nodes []*Node, listing *Listing) {
	byID := make(map[string]*Node, len(nodes))
	for _, n := range nodes {
		byID[n.ID] = n
	}
	for i := range listing.Nodes {
		n := byID[listing.Nodes[i].ID]
		if n == nil {
			continue
		}
		for _, p := range listing.Nodes[i].Problems {
			said := func(f Finding) bool { return f.Node == n.ID && f.Message == p.Message }
			if !slices.ContainsFunc(l.Errors, said) {
				l.Warnings = append(l.Warnings, n.finding(p.Rule, p.Line, p.Message, p.Fix))
			}
		}
	}
}

// symbolOutlines returns the outlines of the files of which entries name a part: as they
// lie there, like the specs that name them.
func (r *Reader) symbolOutlines(ctx context.Context, nodes []*Node, tracked []repo.Entry, parts *locator) (map[repo.Path]*outline.Outline, error) {
	asked := make(map[repo.Path]bool)
	for _, n := range nodes {
		for _, e := range n.entries() {
			for _, p := range parts.files(e) {
				asked[p] = true
			}
		}
	}
	var entries []repo.Entry
	for i := range tracked {
		if e := &tracked[i]; asked[e.Path] && e.Mode.SameType(repo.Regular) && outline.MayRead(e.Path) {
			entries = append(entries, *e)
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	edited, err := r.src.Edited(ctx, entries, outline.MaxBytes)
	if err != nil {
		return nil, err
	}
	at := make(map[repo.Path]*outline.Outline, len(entries))
	var shapes []Shape
	for _, e := range entries {
		if content, ok := edited[e.Path]; !ok && !e.ID.IsZero() {
			shapes = append(shapes, Shape{e.Path, e.ID})
		} else if o, err := outline.Of(e.Path, content); err == nil && content != nil {
			at[e.Path] = o
		}
	}
	if len(shapes) == 0 {
		return at, nil
	}
	seen, err := r.past.Outlines(ctx, shapes)
	if err != nil {
		return nil, err
	}
	for i, s := range shapes {
		at[s.Path] = seen[i]
	}
	return at, nil
}
