package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/repo"
)

// A file is a path that some commit touched.
type file struct {
	path    repo.Path
	touches []repo.Touch // those that head reaches, ascending
}

// file returns what is known of a path.
func (d *derivation) file(p repo.Path) *file {
	f, ok := d.files[p]
	if !ok {
		f = &file{path: p, touches: d.h.Touching(p)}
		if slices.ContainsFunc(f.touches, func(t repo.Touch) bool { return !d.g.has(t.Commit) }) {
			f.touches = slices.DeleteFunc(slices.Clone(f.touches), func(t repo.Touch) bool { return !d.g.has(t.Commit) })
		}
		d.files[p] = f
	}
	return f
}

// govern finds the files that a node's entries name, by path: all that ever were in
// the history of head. Nodes with the same entries share what is found.
func (d *derivation) govern(s *study) {
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
	s.files, s.entries, s.beyond = g.files, len(g.files), g.beyond
}

// A group is what nodes with the same entries govern.
type group struct {
	files  []*file // by path, not to be changed
	beyond string  // why that is not all, "" when it is
}

func (d *derivation) governedBy(entries []Entry) *group {
	g := &group{}
	for i, e := range entries {
		found, ok := d.expand(e)
		if !ok {
			g.beyond = d.limit.reason()
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

// expand returns the files that an entry names, by path. The entries of all nodes
// share what is found. It is not ok when there are too many globs to tell.
func (d *derivation) expand(e Entry) (list []*file, ok bool) {
	key := e.key()
	if list, ok := d.expanded[key]; ok {
		return list, true
	}
	take := func(p repo.Path) {
		if f := d.file(p); len(f.touches) > 0 {
			list = append(list, f)
		}
	}
	if e.Symbol != "" {
		take(e.literal())
	}
	within := repo.Path(e.Path)
	if e.Kind == GlobEntry {
		base, _ := doublestar.SplitPattern(e.Path)
		if within = repo.Path(base); base == "." {
			within = ""
		}
	} else if within != "" {
		take(within)
	}
	paths := d.below(within)
	if e.Kind == GlobEntry && !d.limit.allow(len(paths)) {
		return nil, false
	}
	for _, p := range paths {
		if e.Matches(p) && (p != within || e.Kind == GlobEntry) {
			take(p)
		}
	}
	d.expanded[key] = list
	return list, true
}

// below lists the paths below a directory. Most globs begin at the root, which is listed
// once.
func (d *derivation) below(dir repo.Path) []repo.Path {
	if dir != "" {
		return d.h.Below(dir)
	}
	if d.paths == nil {
		d.paths = d.h.Below("")
	}
	return d.paths
}
