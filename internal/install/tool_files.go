package install

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"ken/internal/content"
	"ken/internal/repo"
)

// ToolFiles is a file or directory of an agent tool.
type ToolFiles struct {
	Path    repo.Path
	Tool    string // the name of the tool
	Holds   string // the contents, in a few words
	Usage   repo.DiskUsage
	Tracked int  // number of files that git tracks
	Loose   bool // git neither tracks nor ignores some of the files
}

// GitPaths lists the paths that git tracks, and those that it neither tracks nor ignores,
// both sorted.
type GitPaths struct{ Tracked, Loose []repo.Path }

// FindToolFiles lists the files of agent tools in a work tree, sorted by path. It finds all of
// them at the root, and those below it that git tracks.
func FindToolFiles(ctx context.Context, tree *content.Tree, git GitPaths) ([]ToolFiles, error) {
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

// deeper finds a file or directory of a tool above a tracked path, below the root: a package of
// a larger repository may have its own. It considers only hidden names.
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

// matches compares a name with a pattern, in which only a star at the end is special.
func matches(pattern, name string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(name, prefix)
	}
	return name == pattern
}

// pathsUnder returns the sorted paths that are p or in it. Git lists a nested repository as one
// path that ends in a slash.
func pathsUnder(sorted []repo.Path, p repo.Path) []repo.Path {
	if _, ok := slices.BinarySearch(sorted, p); ok {
		return []repo.Path{p}
	}
	from, _ := slices.BinarySearch(sorted, p+"/")
	to, _ := slices.BinarySearch(sorted, p+"0") // the byte after the slash
	return sorted[from:to]
}
