package registry

import (
	"cmp"
	"context"
	"sort"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// An untrackedPath is a path without a tracked file: what it is instead, or what was probably meant.
type untrackedPath struct {
	path      repo.Path
	directory bool      // it has tracked files
	nearest   repo.Path // the tracked file that was probably meant; "" for none
}

// findUntracked describes a path that is not among the entries, which are sorted.
func findUntracked(entries []repo.Entry, p repo.Path) untrackedPath {
	s := untrackedPath{path: p}
	below := p + "/"
	i := sort.Search(len(entries), func(i int) bool { return entries[i].Path >= below })
	if s.directory = p == "" || i < len(entries) && entries[i].Path.Under(p); !s.directory {
		s.nearest = nearest(entries, p)
	}
	return s
}

// nearest returns the tracked file that was probably meant: one in the same directory with a similar name, else the
// only one with that name elsewhere.
func nearest(entries []repo.Entry, p repo.Path) repo.Path {
	dir, base := p.Dir(), p.Base()
	var best, namesake repo.Path
	least, namesakes := 0, 0
	for i := range entries {
		q := entries[i].Path
		name := q.Base()
		if strings.EqualFold(name, base) {
			namesake = q
			namesakes++
		}
		if !strings.EqualFold(string(q.Dir()), string(dir)) {
			continue
		}
		if d, ok := suggest.TypoDistance(name, base); ok && (best == "" || d < least) {
			best, least = q, d
		}
	}
	if best == "" && namesakes == 1 {
		best = namesake
	}
	return best
}

// advise returns a hint for a path that is not tracked: where to look instead, or how to track it.
func (r *Registry) advise(ctx context.Context, s untrackedPath) (string, error) {
	if s.directory {
		return "show the summary of this directory with: ken survey show " + fault.Quote(cmp.Or(string(s.path), ".")), nil
	}
	found, err := r.files.Stat(ctx, []repo.Entry{{Path: s.path}})
	switch {
	case err != nil:
		return "", err
	case found[0].Presence == repo.RegularFile:
		return "track it first: git add " + fault.Quote(string(s.path)), nil
	case s.nearest != "":
		return "did you mean " + s.nearest.String() + "?", nil
	default:
		return "list tracked files with: git ls-files", nil
	}
}

// refuse rejects a summary of a path without a tracked file.
func (r *Registry) refuse(ctx context.Context, snap *repo.Snapshot, w *WriteResult, p repo.Path) (err error) {
	s := findUntracked(snap.Index.Entries, p)
	if s.directory {
		w.Reason = "a directory: only files have summaries of this kind"
	}
	w.Hint, err = r.advise(ctx, s)
	return err
}
