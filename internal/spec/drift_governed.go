package spec

import (
	"cmp"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/repo"
)

// A file is a path that some commit touched.
type file struct {
	path    repo.Path
	touches []Touch // those that head reaches, ascending
}

// file returns what is known of a path.
func (d *derivation) file(p repo.Path) *file {
	f, ok := d.files[p]
	if !ok {
		f = &file{path: p, touches: d.h.Touching(p)}
		if slices.ContainsFunc(f.touches, func(t Touch) bool { return !d.g.has(t.Commit) }) {
			f.touches = slices.DeleteFunc(slices.Clone(f.touches), func(t Touch) bool { return !d.g.has(t.Commit) })
		}
		d.files[p] = f
	}
	return f
}

// govern finds the files that a node's entries name, by path: all that ever were in
// the history of head.
func (d *derivation) govern(s *study) {
	for i, e := range s.node.Code {
		found := d.expand(e)
		if i == 0 {
			s.files = found
			continue
		}
		s.files = slices.Concat(s.files, found)
	}
	if len(s.node.Code) > 1 {
		slices.SortFunc(s.files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
		s.files = slices.Compact(s.files)
	}
	s.files = slices.Clip(s.files)
	s.entries = len(s.files)
}

// expand returns the files that an entry names, by path. The entries of all nodes
// share what is found.
func (d *derivation) expand(e Entry) []*file {
	key := Entry{Path: e.Path, Kind: e.Kind, Symbol: e.Symbol}
	if list, ok := d.expanded[key]; ok {
		return list
	}
	var list []*file
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
	for _, p := range d.h.Below(within) {
		if e.Matches(p) && (p != within || e.Kind == GlobEntry) {
			take(p)
		}
	}
	d.expanded[key] = list
	return list
}
