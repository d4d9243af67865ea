package derive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// A file is a path with the commits that changed it.
type file struct {
	path    repo.Path
	touches []repo.Touch // reached by head, ascending
}

// file returns the file of a path.
func (d *derivation) file(p repo.Path) *file {
	f, ok := d.files[p]
	if !ok {
		f = &file{path: p, touches: d.h.Touching(p)}
		if slices.ContainsFunc(f.touches, func(t repo.Touch) bool { return !d.g.Has(t.Commit) }) {
			f.touches = slices.DeleteFunc(slices.Clone(f.touches), func(t repo.Touch) bool { return !d.g.Has(t.Commit) })
		}
		d.files[p] = f
	}
	return f
}

// govern finds the files that the entries of a node match, by path, including files that were deleted before head.
// Nodes with the same entries share the result.
func (d *derivation) govern(s *nodeState) {
	var key strings.Builder
	for _, e := range s.node.Code {
		fmt.Fprintf(&key, "%d%q%q", e.Kind, e.Path, e.Symbol)
	}
	g := d.governed[key.String()]
	if g == nil {
		g = d.governedBy(s.node.Code)
		d.governed[key.String()] = g
	}
	s.group = g
	s.files, s.entries, s.limitReason = g.files, len(g.files), g.limitReason
}

// A group is the result of govern for all nodes with the same entries.
type group struct {
	files       []*file // by path; shared, so it must not be modified
	limitReason string  // why files are missing, "" if none is
}

func (d *derivation) governedBy(entries []parse.Entry) *group {
	g := &group{}
	for i, e := range entries {
		found, ok := d.expand(e)
		if !ok {
			g.limitReason = d.limit.Reason()
		}
		if i == 0 {
			g.files = found
			continue
		}
		g.files = slices.Concat(g.files, found)
	}
	if len(entries) > 1 {
		slices.SortFunc(g.files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
		g.files = slices.Compact(g.files)
	}
	g.files = slices.Clip(g.files)
	return g
}

// expand returns the files that an entry matches, by path. Equal entries share the result. ok is false if there
// are too many globs to check.
func (d *derivation) expand(e parse.Entry) (list []*file, ok bool) {
	key := e.Key()
	if list, ok := d.expanded[key]; ok {
		return list, true
	}
	take := func(p repo.Path) {
		if f := d.file(p); len(f.touches) > 0 {
			list = append(list, f)
		}
	}
	if e.Symbol != "" {
		take(e.Literal())
	}
	within := repo.Path(e.Path)
	if e.Kind == parse.GlobEntry {
		base, _ := doublestar.SplitPattern(e.Path)
		if within = repo.Path(base); base == "." {
			within = ""
		}
	} else if within != "" {
		take(within)
	}
	paths := d.below(within)
	if e.Kind == parse.GlobEntry && !d.limit.Allow(len(paths)) {
		return nil, false
	}
	for _, p := range paths {
		if e.Matches(p) && (p != within || e.Kind == parse.GlobEntry) {
			take(p)
		}
	}
	d.expanded[key] = list
	return list, true
}

// below lists the paths below a directory. It keeps the list for the root, where most globs begin.
func (d *derivation) below(dir repo.Path) []repo.Path {
	if dir != "" {
		return d.h.Below(dir)
	}
	if d.paths == nil {
		d.paths = d.h.Below("")
	}
	return d.paths
}

// A GovernedChange lists the governed files that some commits changed.
type GovernedChange struct {
	Paths []repo.Path
	All   bool // false if the limit on globs was reached
}

// GovernedChanges returns for each node the governed paths that the commits within changed, as seen from head.
func GovernedChanges(ctx context.Context, nodes []*parse.Node, h History, head repo.CommitNumber, within func(repo.CommitNumber) bool) ([]GovernedChange, error) {
	d := newDerivation(nodes, h, head, nil)
	list := make([]GovernedChange, len(nodes))
	for i, s := range d.states {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.govern(s)
		list[i].All = s.limitReason == ""
		for _, f := range s.files {
			if slices.ContainsFunc(f.touches, func(t repo.Touch) bool { return within(t.Commit) }) {
				list[i].Paths = append(list[i].Paths, f.path)
			}
		}
	}
	return list, nil
}
