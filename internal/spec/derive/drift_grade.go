package derive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

const (
	// maxCompared is the number of attestations, latest first, that the code of a node is compared with. A spec
	// can have hundreds of acks, and each comparison reads outlines.
	maxCompared = 4
	// MaxOutlined is the most files of a node that outlines are read for. If more have changed, the exact grade
	// does not matter.
	MaxOutlined = 500
)

// A driftGrade says how much the code of a node has changed since one attestation of its present spec.
type driftGrade struct {
	commit repo.CommitNumber
	list   []*change
	grade  fresh.Grade // the highest
	// unchanged has the touched files in which only symbols are governed, and all of them are unchanged.
	unchanged map[repo.Path]bool
	// whole has, by symbol, the reason why an entry with this symbol is judged by its whole file.
	whole map[string]string
}

// A change is a governed file in the attesting commit and at head.
type change struct {
	paths    []repo.Path // the path there, the paths between, and the path at head
	was, now repo.ID     // zero if the file does not exist
	symbols  []string    // the governed symbols; nil if the whole file is governed
	outlined bool        // the grade is computed from the outlines of both contents
}

func (c *change) before() repo.File { return repo.File{Path: c.paths[0], ID: c.was} }
func (c *change) after() repo.File {
	return repo.File{Path: c.paths[len(c.paths)-1], ID: c.now}
}

// gradeAll grades the changes of the governed code of drifting specs. A
// spec that governs only symbols has no drift if none of them changed.
func (d *derivation) gradeAll(ctx context.Context, read OutlineReader) error {
	grades := make(map[*nodeState][]*driftGrade)
	var drifting []*nodeState
	for _, s := range d.states {
		if s.touched == 0 || s.same || s.gapAfterAcks || s.blobErr != nil || s.node.CodeUnknown != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		drifting = append(drifting, s)
		grades[s] = d.comparedWith(s)
		for _, x := range grades[s] {
			for _, b := range s.touchedFiles {
				d.blobs.Request(x.commit, b.file.path)
				d.blobs.Request(d.g.head, b.file.path)
			}
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return err
	}
	if d.outlineErr = d.blobs.Err; d.outlineErr != nil {
		return nil // nothing can be graded
	}
	var compared []*change
	for _, s := range drifting {
		for _, x := range grades[s] {
			x.list = d.changes(s, x.commit)
			x.choose()
			compared = append(compared, x.list...)
		}
	}
	seen, err := d.outline(ctx, read, compared)
	if err != nil {
		return err
	}
	for _, s := range drifting {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, x := range grades[s] {
			x.measure(seen, d.outlineErr)
			if s.driftGrade == nil || s.textOfMerge == (x.grade.Rank() > s.driftGrade.grade.Rank()) {
				s.driftGrade = x
			}
		}
		if s.textOfMerge && s.driftGrade != nil && s.driftGrade.grade != "" {
			s.driftGrade.unchanged = nil // the others of the latest versions may differ there
		}
	}
	if err := d.compareParts(ctx, drifting); err != nil {
		return err
	}
	return d.dropOtherSymbols(ctx, read, drifting)
}

// comparedWith returns an empty grade for each attestation that the code of a node is compared with: the latest of
// those whose spec is that of head. If there is none, a merge by git put the text together. Then the code is compared
// with all of the latest versions, and the farthest counts.
func (d *derivation) comparedWith(s *nodeState) []*driftGrade {
	var list []*driftGrade
	for _, a := range d.attestations(s) {
		list = append(list, &driftGrade{commit: a.commit})
	}
	s.textOfMerge = len(list) == 0
	if s.textOfMerge && len(s.top) <= maxCompared {
		for _, c := range s.top {
			list = append(list, &driftGrade{commit: c})
		}
	}
	slices.SortFunc(list, func(a, b *driftGrade) int { return cmp.Compare(b.commit, a.commit) })
	list = slices.CompactFunc(list, func(a, b *driftGrade) bool { return a.commit == b.commit })
	return list[:min(len(list), maxCompared)]
}

// outline reads the outlines of those changes that choose selected.
func (d *derivation) outline(ctx context.Context, read OutlineReader, compared []*change) (map[repo.File]*outline.Outline, error) {
	seen := make(map[repo.File]*outline.Outline)
	var files []*repo.File
	for _, c := range compared {
		if !c.outlined {
			continue
		}
		for _, f := range []repo.File{c.before(), c.after()} {
			if _, asked := seen[f]; !asked {
				seen[f] = nil
				files = append(files, &f)
			}
		}
	}
	if len(files) == 0 {
		return seen, nil
	}
	found, err := read(ctx, files)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && len(found) != len(files) {
		err = fmt.Errorf("%d outlines of %d contents", len(found), len(files))
	}
	if err != nil {
		d.outlineErr = err
		return seen, nil
	}
	for i, f := range files {
		seen[*f] = found[i]
	}
	return seen, nil
}

// changes returns the touched files, as they are in a commit and at head. A moved file is one change with all its
// paths.
func (d *derivation) changes(s *nodeState, at repo.CommitNumber) []*change {
	var list []*change
	done := make(map[repo.Path]bool)
	take := func(p repo.Path) {
		c := &change{paths: []repo.Path{p}, was: d.blobs.At(at, p)}
		for range len(s.moved) {
			to, ok := s.moved[p]
			if !ok {
				break
			}
			p = to.to
			c.paths = append(c.paths, p)
		}
		c.now = d.blobs.At(d.g.head, p)
		for _, p := range c.paths {
			done[p] = true
		}
		c.symbols = symbolsOf(s.node, c.paths)
		list = append(list, c)
	}
	// Files that exist in the commit come first, because a new path may be one of them after a move.
	for _, b := range s.touchedFiles {
		if !d.blobs.At(at, b.file.path).IsZero() {
			take(b.file.path)
		}
	}
	for _, b := range s.touchedFiles {
		if !done[b.file.path] {
			take(b.file.path)
		}
	}
	return list
}

// symbolsOf returns the symbols of a file that the node governs, nil if it governs the whole file.
func symbolsOf(n *parse.Node, paths []repo.Path) []string {
	var list []string
	for _, e := range n.Code {
		for _, p := range paths {
			switch {
			case !e.Matches(p):
			case e.Symbol == "" || p == e.Literal():
				return nil
			case !slices.Contains(list, e.Symbol):
				list = append(list, e.Symbol)
			}
		}
	}
	return list
}

// readable reports whether the outlines of both contents can give a finer grade.
func (c *change) readable() bool {
	return c.was != c.now && !c.was.IsZero() && !c.now.IsZero() &&
		outline.MayHaveOutline(c.paths[0]) && outline.MayHaveOutline(c.paths[len(c.paths)-1])
}

// choose selects the files to outline: those with governed symbols, and all others, unless one of these
// has the highest grade anyway.
func (d *driftGrade) choose() {
	ungradable := slices.ContainsFunc(d.list, func(c *change) bool {
		return c.symbols == nil && c.was != c.now && !c.readable()
	})
	n := 0
	for _, c := range d.list {
		if c.readable() && (c.symbols != nil || !ungradable) {
			c.outlined = true
			n++
		}
	}
	if n > MaxOutlined {
		for _, c := range d.list {
			c.outlined = false
		}
	}
}

// measure grades the changes.
func (d *driftGrade) measure(seen map[repo.File]*outline.Outline, doubt error) {
	d.unchanged, d.whole = make(map[repo.Path]bool), make(map[string]string)
	changed := make(map[repo.Path]bool)
	for _, c := range d.list {
		g, moved := d.gradeOf(c, seen, doubt)
		if g.Rank() > d.grade.Rank() {
			d.grade = g
		}
		for _, p := range c.paths {
			d.unchanged[p] = true
			changed[p] = changed[p] || moved
		}
	}
	for p := range changed {
		if changed[p] {
			delete(d.unchanged, p)
		}
	}
}

// gradeOf grades a change, "" if the content is the same. moved is false if only symbols are governed and none of
// them changed.
func (d *driftGrade) gradeOf(c *change, seen map[repo.File]*outline.Outline, doubt error) (g fresh.Grade, moved bool) {
	switch {
	case c.was == c.now:
		return "", c.symbols == nil
	case c.was.IsZero() || c.now.IsZero():
		return fresh.GradeContent, true // one of the contents does not exist
	}
	old, now := seen[c.before()], seen[c.after()]
	if c.symbols == nil {
		return outline.Grade(old, now), true
	}
	for _, name := range c.symbols {
		part, found := outline.GradeSymbol(old, now, name)
		if !found {
			d.whole[name] = whyWhole(c, old, now, doubt)
		}
		if part.Rank() > g.Rank() {
			g = part
		}
	}
	return g, g != ""
}

// whyWhole returns why a symbol could not be compared on its own.
func whyWhole(c *change, old, now *outline.Outline, doubt error) string {
	switch {
	case doubt != nil:
		return doubt.Error()
	case !c.readable():
		return "ken has no grammar for " + c.paths[0].String()
	case !c.outlined:
		return "too many files have changed"
	case old == nil || now == nil || old.Language != now.Language:
		return "ken could not parse both versions of " + c.paths[0].String()
	case old.Partial != "" || now.Partial != "":
		return "ken could not read all of " + c.paths[0].String()
	default:
		return "not found in " + c.paths[0].String()
	}
}

// compareParts finds the nodes whose code is unchanged except for symbols that they do not govern.
func (d *derivation) compareParts(ctx context.Context, drifting []*nodeState) error {
	drifting = slices.DeleteFunc(slices.Clone(drifting), func(s *nodeState) bool { return s.driftGrade == nil || s.driftGrade.grade != "" })
	for _, s := range drifting {
		for _, f := range s.files {
			d.blobs.Request(s.driftGrade.commit, f.path)
			d.blobs.Request(d.g.head, f.path)
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return err
	}
	for _, s := range drifting {
		s.same = len(s.changedFiles()) == 0
		if !s.same && !s.textOfMerge && d.blobs.Err == nil {
			s.same = d.sameCode(s, s.driftGrade.commit, s.driftGrade.unchanged)
		}
	}
	return nil
}

// grade returns the grade of a node with drift.
func (s *nodeState) grade() fresh.Grade {
	switch {
	case s.driftGrade == nil:
		return fresh.GradeContent
	case s.driftGrade.grade == "":
		return fresh.GradeFormat // commits changed it and changed it back
	default:
		return s.driftGrade.grade
	}
}

// symbolProblems returns a problem for each entry with a symbol that is judged by its whole file.
func (s *nodeState) symbolProblems() []parse.Problem {
	files := s.driftFiles()
	var problems []parse.Problem
	for _, e := range s.node.Code {
		why, whole := "", true
		if s.driftGrade != nil {
			why, whole = s.driftGrade.whole[e.Symbol]
		}
		if e.Symbol == "" || !whole || !slices.ContainsFunc(files, func(b DriftFile) bool { return e.Matches(b.Path) }) {
			continue
		}
		p := parse.Problem{
			Rule: parse.RuleSymbol, Message: e.String() + " counts as its whole file",
			Fix: "check whether " + e.Symbol + " itself changed",
		}
		if why != "" {
			p.Message += ": " + why
		}
		problems = append(problems, p)
	}
	return problems
}
