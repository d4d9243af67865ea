package spec

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

const (
	// maxCompared is with how many attestations the code of a node is compared, the
	// latest of them. An ack a week over years makes many, and each costs outlines.
	maxCompared = 4
	// maxOutlined is how many files of a node are looked into. Where more have moved,
	// the finest of them tells nobody anything.
	maxOutlined = 500
)

// An extent is how far the code of a node has moved since one commit that attests the
// spec that it has.
type extent struct {
	commit repo.CommitNumber
	list   []change
	grade  fresh.Grade // the highest
	// quiet are the files of which only parts are governed, and these have not moved.
	quiet map[repo.Path]bool
	// whole says why an entry that names a symbol is judged by its file, by the symbol.
	whole map[string]string
}

// A change is a governed file, once and now.
type change struct {
	paths    []repo.Path // where it was, over which it went, and where it is
	was, now repo.ID     // zero where there was or is nothing
	symbols  []string    // that are governed; nil when all of it is
	outlined bool        // both are to be looked into
}

func (c *change) before() Shape { return Shape{c.paths[0], c.was} }
func (c *change) after() Shape  { return Shape{c.paths[len(c.paths)-1], c.now} }

// gradeAll grades the changes of the governed code of drifting specs. A
// spec that governs only symbols has no drift if none of them changed.
func (d *derivation) gradeAll(ctx context.Context, o Outlines) error {
	extents := make(map[*study][]*extent)
	var drifting []*study
	for _, s := range d.studies {
		if s.touched == 0 || s.same || s.unseen || s.unsure != nil || s.node.Blind != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		drifting = append(drifting, s)
		for _, a := range d.attestations(s) {
			extents[s] = append(extents[s], &extent{commit: a.commit})
		}
		slices.SortFunc(extents[s], func(a, b *extent) int { return cmp.Compare(b.commit, a.commit) })
		extents[s] = slices.CompactFunc(extents[s], func(a, b *extent) bool { return a.commit == b.commit })
		extents[s] = extents[s][:min(len(extents[s]), maxCompared)]
		for _, x := range extents[s] {
			for _, b := range s.behind {
				d.sheet.want(x.commit, b.file.path)
				d.sheet.want(d.g.head, b.file.path)
			}
		}
	}
	if err := d.sheet.ask(ctx); err != nil {
		return err
	}
	if d.doubt = d.sheet.err; d.doubt != nil {
		return nil // nothing is graded then
	}
	seen, err := d.outline(ctx, o, drifting, extents)
	if err != nil {
		return err
	}
	for _, s := range drifting {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, x := range extents[s] {
			x.measure(seen, d.doubt)
			if s.extent == nil || x.grade.Rank() < s.extent.grade.Rank() {
				s.extent = x
			}
		}
	}
	return d.compareParts(ctx, drifting)
}

// outline returns what is seen in the files that have moved.
func (d *derivation) outline(ctx context.Context, o Outlines, drifting []*study, extents map[*study][]*extent) (map[Shape]*outline.Outline, error) {
	seen := make(map[Shape]*outline.Outline)
	var shapes []Shape
	for _, s := range drifting {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, x := range extents[s] {
			x.list = d.changes(s, x.commit)
			x.choose()
			for i := range x.list {
				c := &x.list[i]
				if !c.outlined {
					continue
				}
				for _, shape := range []Shape{c.before(), c.after()} {
					if _, asked := seen[shape]; !asked {
						seen[shape] = nil
						shapes = append(shapes, shape)
					}
				}
			}
		}
	}
	if len(shapes) == 0 {
		return seen, nil
	}
	found, err := o.Outlines(ctx, shapes)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && len(found) != len(shapes) {
		err = fmt.Errorf("%d outlines of %d contents", len(found), len(shapes))
	}
	if d.doubt = err; err == nil {
		for i, shape := range shapes {
			seen[shape] = found[i]
		}
	}
	return seen, nil
}

// changes returns the files that were touched since, as they were in a commit and as
// they are at head. What was moved is one change, under the names that it had.
func (d *derivation) changes(s *study, at repo.CommitNumber) []change {
	var list []change
	told := make(map[repo.Path]bool)
	take := func(p repo.Path) {
		c := change{paths: []repo.Path{p}, was: d.sheet.at(at, p)}
		for range len(s.moved) {
			to, ok := s.moved[p]
			if !ok {
				break
			}
			p = to.to
			c.paths = append(c.paths, p)
		}
		c.now = d.sheet.at(d.g.head, p)
		for _, p := range c.paths {
			told[p] = true
		}
		c.symbols = s.node.symbolsOf(c.paths)
		list = append(list, c)
	}
	// Those that were there come first: what came since may be one of them.
	for _, b := range s.behind {
		if !d.sheet.at(at, b.file.path).IsZero() {
			take(b.file.path)
		}
	}
	for _, b := range s.behind {
		if !told[b.file.path] {
			take(b.file.path)
		}
	}
	return list
}

// symbolsOf returns the symbols that the node governs of a file, nil when it governs
// all of it.
func (n *Node) symbolsOf(paths []repo.Path) []string {
	var list []string
	for _, e := range n.Code {
		for _, p := range paths {
			switch {
			case !e.Matches(p):
			case e.Symbol == "" || p == e.literal():
				return nil
			case !slices.Contains(list, e.Symbol):
				list = append(list, e.Symbol)
			}
		}
	}
	return list
}

// readable reports whether two outlines may tell more of a change.
func (c *change) readable() bool {
	return c.was != c.now && !c.was.IsZero() && !c.now.IsZero() &&
		outline.MayRead(c.paths[0]) && outline.MayRead(c.paths[len(c.paths)-1])
}

// choose says which files are to be looked into: those of which parts are governed;
// and the others, unless one of them is beyond all grades anyway.
func (x *extent) choose() {
	hopeless := slices.ContainsFunc(x.list, func(c change) bool {
		return c.symbols == nil && c.was != c.now && !c.readable()
	})
	n := 0
	for i := range x.list {
		if c := &x.list[i]; c.readable() && (c.symbols != nil || !hopeless) {
			c.outlined = true
			n++
		}
	}
	if n > maxOutlined {
		for i := range x.list {
			x.list[i].outlined = false
		}
	}
}

// measure grades the changes.
func (x *extent) measure(seen map[Shape]*outline.Outline, doubt error) {
	x.quiet, x.whole = make(map[repo.Path]bool), make(map[string]string)
	loud := make(map[repo.Path]bool)
	for i := range x.list {
		c := &x.list[i]
		g, moved := x.gradeOf(c, seen, doubt)
		if g.Rank() > x.grade.Rank() {
			x.grade = g
		}
		for _, p := range c.paths {
			x.quiet[p] = true
			loud[p] = loud[p] || moved
		}
	}
	for p := range loud {
		if loud[p] {
			delete(x.quiet, p)
		}
	}
}

// gradeOf grades a change, "" when the file is what it was. Of one of which parts are
// governed that have not moved, moved is false.
func (x *extent) gradeOf(c *change, seen map[Shape]*outline.Outline, doubt error) (g fresh.Grade, moved bool) {
	switch {
	case c.was == c.now:
		return "", c.symbols == nil
	case c.was.IsZero() || c.now.IsZero():
		return fresh.GradeContent, true // there is nothing to compare it with
	}
	old, now := seen[c.before()], seen[c.after()]
	if c.symbols == nil {
		return outline.Grade(old, now), true
	}
	for _, name := range c.symbols {
		part, found := outline.GradeSymbol(old, now, name)
		if !found {
			x.whole[name] = whyWhole(c, old, now, doubt)
		}
		if part.Rank() > g.Rank() {
			g = part
		}
	}
	return g, g != ""
}

// whyWhole says why a symbol could not be told from its file.
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

// compareParts finds the nodes whose code is what it was, but for parts of files that
// they do not govern.
func (d *derivation) compareParts(ctx context.Context, drifting []*study) error {
	drifting = slices.DeleteFunc(drifting, func(s *study) bool { return s.extent == nil || s.extent.grade != "" })
	for _, s := range drifting {
		for _, f := range s.files {
			d.sheet.want(s.extent.commit, f.path)
			d.sheet.want(d.g.head, f.path)
		}
	}
	if err := d.sheet.ask(ctx); err != nil {
		return err
	}
	for _, s := range drifting {
		s.same = len(s.loud()) == 0 || d.sheet.err == nil && d.holds(s, s.extent.commit, s.extent.quiet)
	}
	return nil
}

// grade is how far the code of a node that drifts has moved.
func (s *study) grade() fresh.Grade {
	switch {
	case s.extent == nil:
		return fresh.GradeContent
	case s.extent.grade == "":
		return fresh.GradeFormat // it went to and fro
	default:
		return s.extent.grade
	}
}

// symbolProblems tells of entries that name a symbol and drift with their whole file.
func (s *study) symbolProblems() []Problem {
	files := s.driftFiles()
	var problems []Problem
	for _, e := range s.node.Code {
		why, whole := "", true
		if s.extent != nil {
			why, whole = s.extent.whole[e.Symbol]
		}
		if e.Symbol == "" || !whole || !slices.ContainsFunc(files, func(b Behind) bool { return e.Matches(b.Path) }) {
			continue
		}
		p := Problem{
			Rule: RuleSymbol, Message: e.String() + " counts as its whole file",
			Fix: "check whether " + e.Symbol + " itself changed",
		}
		if why != "" {
			p.Message += ": " + why
		}
		problems = append(problems, p)
	}
	return problems
}
