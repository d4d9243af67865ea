// Package litter recognises what other agents' tools have left in a work tree:
// their settings, memories, plans, logs and caches.
//
// It knows them by name, from the table in tools.go, and says whose each is, how
// much it weighs, whether git has it and when it was last touched. It is told
// what lies where, and touches nothing.
package litter

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"ken/internal/repo"
)

// A Tree is the work tree that is looked through.
type Tree interface {
	// Names lists what lies directly in a directory, "" being the root, sorted;
	// nothing where there is no directory.
	Names(ctx context.Context, dir repo.Path) ([]string, error)
	// Weigh adds up the files at a path and below it. No link is followed. What is
	// not there weighs nothing at all.
	Weigh(ctx context.Context, p repo.Path) (Weight, error)
}

// A Weight is how much there is of something.
type Weight struct {
	Dir     bool
	Files   int
	Bytes   int64
	Touched time.Time // the latest of the files, or of the directory if it has none
	// Missed says why there may be more than this, "" when there is not.
	Missed string
}

// Found is something that a tool keeps.
type Found struct {
	Path    repo.Path
	Tool    string // whose it is
	Holds   string // what it is, in a few words
	Weight  Weight
	Tracked int  // files below it that git tracks
	Loose   bool // some of it git neither tracks nor ignores
}

// Git says what git makes of the work tree: what it tracks, and what it neither
// tracks nor ignores, each sorted.
type Git struct{ Tracked, Loose []repo.Path }

// Audit lists what tools keep in a tree, sorted by path. What lies at the root is
// found whether git knows of it or not, what lies deeper only if git tracks it.
func Audit(ctx context.Context, tree Tree, git Git) ([]Found, error) {
	at := map[repo.Path]*Tool{}
	dirs := map[string][]string{}
	for i := range Tools {
		for _, pattern := range Tools[i].Paths {
			dir, base := path.Split(pattern)
			names, seen := dirs[dir]
			if !seen {
				var err error
				if names, err = tree.Names(ctx, repo.Path(strings.TrimSuffix(dir, "/"))); err != nil {
					return nil, err
				}
				dirs[dir] = names
			}
			for _, name := range names {
				if matches(base, name) {
					at[repo.Path(dir+name)] = &Tools[i]
				}
			}
		}
	}
	for _, p := range git.Tracked {
		if p, t := deeper(p); t != nil {
			at[p] = t
		}
	}
	found := make([]Found, 0, len(at))
	for p, t := range at {
		w, err := tree.Weigh(ctx, p)
		if err != nil {
			return nil, err
		}
		if w == (Weight{}) {
			continue // tracked, and not in the work tree
		}
		found = append(found, Found{
			Path: p, Tool: t.Name, Holds: t.Holds, Weight: w,
			Tracked: len(below(git.Tracked, p)), Loose: len(below(git.Loose, p)) > 0,
		})
	}
	slices.SortFunc(found, func(a, b Found) int { return cmp.Compare(a.Path, b.Path) })
	return found, nil
}

// deeper finds a tool's directory or file on the way to a tracked path below the
// root: a package of a larger repository has its own. Only a hidden name is taken
// at its word there.
func deeper(p repo.Path) (repo.Path, *Tool) {
	rest, end := string(p), 0
	for {
		name, after, more := strings.Cut(rest, "/")
		if end > 0 && strings.HasPrefix(name, ".") {
			if t := byName(name); t != nil {
				return p[:end+len(name)], t
			}
		}
		if !more {
			return "", nil
		}
		end += len(name) + 1
		rest = after
	}
}

func byName(name string) *Tool {
	for i := range Tools {
		for _, pattern := range Tools[i].Paths {
			if !strings.Contains(pattern, "/") && matches(pattern, name) {
				return &Tools[i]
			}
		}
	}
	return nil
}

// matches compares a name with a pattern of the table, where a star at the end is
// the only thing that is not letter for letter.
func matches(pattern, name string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(name, prefix)
	}
	return name == pattern
}

// below returns the stretch of sorted paths that are p or lie in it. Another
// repository in the work tree stands there as one path that ends in a slash.
func below(sorted []repo.Path, p repo.Path) []repo.Path {
	if _, ok := slices.BinarySearch(sorted, p); ok {
		return []repo.Path{p}
	}
	from, _ := slices.BinarySearch(sorted, p+"/")
	to, _ := slices.BinarySearch(sorted, p+"0") // the byte after the slash
	return sorted[from:to]
}
