// Package spec answers for the specs of a work tree: the listing with the facts from git, the proposals of worktrees, the
// owners of a path, the gate and the linter.
//
// Package parse reads spec files, and package derive computes the facts about them from the history. This package reads
// both from an open workspace, combines them, and caches its answers.
package spec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/spec/parse"
	"ken/internal/suggest"
	"ken/internal/workspace"
)

// Options tune a Reader. The zero value is ready to use.
type Options struct {
	Main   string       // the configured main branch; "" means the one that git names
	Loaded *LoadedSpecs // the spec files that a server keeps; nil reads them each time
}

// A Reader answers for the specs of one work tree.
type Reader struct {
	ws   *workspace.Workspace
	opts Options
	// observe is called after each read that the tests count or interrupt; nil outside of tests.
	observe func(readEvent)
}

// A readEvent is a read that a test can observe.
type readEvent int

const (
	readHistory   readEvent = iota // the history was read
	readCommit                     // the list of specs of a commit was read
	readSpecs                      // the spec files of the work tree were read, or taken from Options.Loaded
	readUnchanged                  // the spec files were found unchanged
)

func (r *Reader) notify(e readEvent) {
	if r.observe != nil {
		r.observe(e)
	}
}

// NewReader returns the reader of the specs in the work tree of ws.
func NewReader(ws *workspace.Workspace, opts Options) *Reader { return &Reader{ws: ws, opts: opts} }

// tracked lists the entries of the index, by path, each path once.
func (r *Reader) tracked(ctx context.Context) ([]repo.Entry, error) {
	snapshot, err := r.ws.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return snapshot.Index.Entries, nil
}

// edited returns the contents of those tracked files that differ from the index. The content is nil for a file that is
// missing, is not a regular file, or has more than limit bytes.
func (r *Reader) edited(ctx context.Context, entries []repo.Entry, limit int64) (map[repo.Path][]byte, error) {
	paths, err := r.ws.Files.Edited(ctx, entries)
	if err != nil {
		return nil, err
	}
	contents := make([][]byte, len(paths))
	err = r.ws.Files.Bytes(ctx, paths, limit, func(i int, content []byte, err error) {
		if err == nil {
			contents[i] = append([]byte{}, content...)
		}
	})
	if err != nil {
		return nil, err
	}
	edited := make(map[repo.Path][]byte, len(paths))
	for i, p := range paths {
		edited[p] = contents[i]
	}
	return edited, nil
}

// Nodes returns the specs of the work tree, sorted by path. It returns none if there is no .spec directory.
func (r *Reader) Nodes(ctx context.Context) ([]*parse.Node, error) {
	files, _, err := r.specs(ctx)
	if err != nil {
		return nil, err
	}
	return parse.LoadContext(ctx, files)
}

// Node returns the spec with an id.
func (r *Reader) Node(ctx context.Context, id string) (*parse.Node, error) {
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(nodes, func(n *parse.Node) bool { return n.ID == id })
	if i >= 0 {
		return nodes[i], nil
	}
	return nil, unknownNode(nodes, id)
}

// Details are one spec with its text and its row of the listing.
type Details struct {
	*ListedSpec
	Body  string       `json:"body"`
	Parts *parse.Parts `json:"parts"`
}

// Show returns the spec with an id, with its text and the facts that git has about it.
func (r *Reader) Show(ctx context.Context, id string) (*Details, error) {
	n, err := r.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	l, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(l.Nodes, func(other ListedSpec) bool { return other.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%s changed while ken read it; try again", n.Path)
	}
	return &Details{&l.Nodes[i], n.Body, n.Parts}, nil
}

// unknownNode returns the error for an unknown id, with similar ids.
func unknownNode(nodes []*parse.Node, id string) error {
	var meant []string
	for _, n := range nodes {
		_, slip := suggest.TypoDistance(n.ID, id)
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

// Owners returns the specs that govern each path and those that refer to it. Code that was moved is governed by its old
// path until the spec is edited, as for the gate.
func (r *Reader) Owners(ctx context.Context, paths []repo.Path) ([]Ownership, error) {
	k, err := r.cachedNodes(ctx)
	if err != nil {
		return nil, err
	}
	owners := Owners(k.list(), paths)
	return owners, r.addMovedCode(ctx, k.list(), owners)
}

// OwnersByEntry is Owners without code that was moved. It reads no history.
func (r *Reader) OwnersByEntry(ctx context.Context, paths []repo.Path) ([]Ownership, error) {
	k, err := r.cachedNodes(ctx)
	if err != nil {
		return nil, err
	}
	return Owners(k.list(), paths), nil
}

// Lint checks the specs against the tracked files of the work tree.
func (r *Reader) Lint(ctx context.Context) (LintResult, error) {
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return LintResult{}, err
	}
	tracked, err := r.tracked(ctx)
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
		if len(nodes) > 0 && !e.Path.Under(parse.Root) && r.ws.Files.KindByName(e.Path) == repo.KindSource {
			opts.Sources = append(opts.Sources, e.Path)
		}
	}
	opts.Outlines, err = r.symbolOutlines(ctx, nodes, tracked, opts.parts)
	if err != nil {
		return LintResult{}, err
	}
	l, err := r.List(ctx)
	if err != nil {
		return LintResult{}, err
	}
	for i := range l.Nodes {
		for _, m := range l.Nodes[i].Moved { // governed until the spec is edited
			opts.Sources = slices.DeleteFunc(opts.Sources, func(p repo.Path) bool { return p == m.To })
		}
	}
	found, err := Lint(ctx, nodes, opts)
	if err != nil {
		return LintResult{}, err
	}
	found.addHistory(nodes, l)
	stray, err := r.strayAcks(ctx, l)
	found.Warnings = append(found.Warnings, stray...)
	return found, err
}

// addHistory adds a warning for each problem in a listing that is not among the errors. Those problems come from
// the history.
func (l *LintResult) addHistory(nodes []*parse.Node, listing *Listing) {
	byID := make(map[string]*parse.Node, len(nodes))
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
				l.Warnings = append(l.Warnings, newFinding(n, p.Rule, p.Line, p.Message, p.Fix))
			}
		}
	}
}

// symbolOutlines returns the outlines of the files in which an entry names a symbol, as they are in the work tree.
func (r *Reader) symbolOutlines(ctx context.Context, nodes []*parse.Node, tracked []repo.Entry, parts *locator) (map[repo.Path]*outline.Outline, error) {
	asked := make(map[repo.Path]bool)
	for _, n := range nodes {
		for _, e := range entriesOf(n) {
			for _, p := range parts.files(e) {
				asked[p] = true
			}
		}
	}
	var entries []repo.Entry
	for i := range tracked {
		if e := &tracked[i]; asked[e.Path] && e.Mode.SameType(repo.Regular) && outline.MayHaveOutline(e.Path) {
			entries = append(entries, *e)
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	edited, err := r.edited(ctx, entries, outline.MaxBytes)
	if err != nil {
		return nil, err
	}
	at := make(map[repo.Path]*outline.Outline, len(entries))
	var stored []*repo.File
	for _, e := range entries {
		content, isEdited := edited[e.Path]
		if !isEdited && !e.ID.IsZero() {
			stored = append(stored, &repo.File{Path: e.Path, ID: e.ID})
			continue
		}
		if o, err := outline.Parse(e.Path, content); err == nil && content != nil {
			at[e.Path] = o
		}
	}
	if len(stored) == 0 {
		return at, nil
	}
	outlines, err := r.ws.BlobOutlines(ctx, stored)
	if err != nil {
		return nil, err
	}
	for i, f := range stored {
		at[f.Path] = outlines[i]
	}
	return at, nil
}

// Text returns the spec with an id and the whole text of its file, including the frontmatter. Lines end in \n.
// Text beyond the size limit of a spec is left out.
func (r *Reader) Text(ctx context.Context, id string) (*parse.Node, string, error) {
	files, _, err := r.specs(ctx)
	if err != nil {
		return nil, "", err
	}
	nodes := parse.Load(files)
	i := slices.IndexFunc(nodes, func(n *parse.Node) bool { return n.ID == id })
	if i < 0 {
		return nil, "", unknownNode(nodes, id)
	}
	at := slices.IndexFunc(files, func(f repo.LoadedFile) bool { return f.Path == nodes[i].Path })
	return nodes[i], new(parse.Node).Decode(files[at].Content), nil
}
