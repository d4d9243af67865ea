package install

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A WorkTree is the work tree that is looked through.
type WorkTree interface {
	// Names lists what lies directly in a directory, "" being the root, sorted;
	// nothing where there is no directory.
	Names(ctx context.Context, dir repo.Path) ([]string, error)
	// Usage adds up the files at a path and below it. No link is followed. What is
	// not there has the zero usage.
	Usage(ctx context.Context, p repo.Path) (repo.DiskUsage, error)
}

// ToolFiles are a file or a directory that an agent tool keeps.
type ToolFiles struct {
	Path    repo.Path
	Tool    string // whose it is
	Holds   string // what it is, in a few words
	Usage   repo.DiskUsage
	Tracked int  // files below it that git tracks
	Loose   bool // some of it git neither tracks nor ignores
}

// GitPaths says what git makes of the work tree: what it tracks, and what it neither
// tracks nor ignores, each sorted.
type GitPaths struct{ Tracked, Loose []repo.Path }

// FindToolFiles lists what tools keep in a tree, sorted by path. What lies at the root is
// found whether git knows of it or not, what lies deeper only if git tracks it.
func FindToolFiles(ctx context.Context, tree WorkTree, git GitPaths) ([]ToolFiles, error) {
	at := map[repo.Path]*AgentTool{}
	dirs := map[string][]string{}
	for i := range AgentTools {
		for _, pattern := range AgentTools[i].Paths {
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
					at[repo.Path(dir+name)] = &AgentTools[i]
				}
			}
		}
	}
	for _, p := range git.Tracked {
		if p, t := deeper(p); t != nil {
			at[p] = t
		}
	}
	found := make([]ToolFiles, 0, len(at))
	for p, t := range at {
		usage, err := tree.Usage(ctx, p)
		if err != nil {
			return nil, err
		}
		if usage == (repo.DiskUsage{}) {
			continue // tracked, and not in the work tree
		}
		found = append(found, ToolFiles{
			Path: p, Tool: t.Name, Holds: t.Holds, Usage: usage,
			Tracked: len(pathsUnder(git.Tracked, p)), Loose: len(pathsUnder(git.Loose, p)) > 0,
		})
	}
	slices.SortFunc(found, func(a, b ToolFiles) int { return cmp.Compare(a.Path, b.Path) })
	return found, nil
}

// deeper finds a tool's directory or file on the way to a tracked path below the
// root: a package of a larger repository has its own. Only a hidden name is taken
// at its word there.
func deeper(p repo.Path) (repo.Path, *AgentTool) {
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

func byName(name string) *AgentTool {
	for i := range AgentTools {
		for _, pattern := range AgentTools[i].Paths {
			if !strings.Contains(pattern, "/") && matches(pattern, name) {
				return &AgentTools[i]
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

// pathsUnder returns the stretch of sorted paths that are p or lie in it. Another
// repository in the work tree stands there as one path that ends in a slash.
func pathsUnder(sorted []repo.Path, p repo.Path) []repo.Path {
	if _, ok := slices.BinarySearch(sorted, p); ok {
		return []repo.Path{p}
	}
	from, _ := slices.BinarySearch(sorted, p+"/")
	to, _ := slices.BinarySearch(sorted, p+"0") // the byte after the slash
	return sorted[from:to]
}
