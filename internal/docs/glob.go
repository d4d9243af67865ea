package docs

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits on matching the globs of documents. A glob beyond them counts as not tried; see globs.skipped.
const (
	maxMatched = 16_000_000 // paths visited, counted for each glob
	matching   = 4          // visited paths that cost as much as one match
	maxGlob    = 512        // bytes of one glob
	maxChoices = 16         // braces and commas of one glob: each pair may double the work
)

// globs matches the patterns in documents against the tracked paths.
type globs struct {
	tree   *treeIndex
	paths  []string // files and directories, sorted; nil until first use
	tried  map[string]bool
	budget int
	// skipped is set if a glob was not tried. The caller resets it.
	skipped bool
}

// match reports whether a glob matches a tracked file or directory.
func (g *globs) match(glob string) bool {
	if does, ok := g.tried[glob]; ok {
		return does
	}
	if len(glob) > maxGlob || strings.Count(glob, "{")+strings.Count(glob, ",") > maxChoices || g.budget <= 0 {
		g.skipped = true
		return false
	}
	does := doublestar.ValidatePattern(glob) && g.scan(glob)
	if !does && g.budget <= 0 {
		g.skipped = true
		return false
	}
	g.tried[glob] = does
	return does
}

// scan tries the paths that begin and end like a glob.
func (g *globs) scan(glob string) bool {
	if g.paths == nil {
		g.paths = append(slices.Sorted(maps.Keys(g.tree.files)), slices.Collect(maps.Keys(g.tree.dirs))...)
		sort.Strings(g.paths)
		if len(g.paths) > 0 && g.paths[0] == "" {
			g.paths = g.paths[1:] // the root has no name to match
		}
	}
	const meta = "*?[]{}\\"
	head := glob[:strings.IndexAny(glob+"*", meta)]
	tail := strings.TrimPrefix(glob[strings.LastIndexAny(glob, meta)+1:], "/") // **/a matches a too
	if strings.HasPrefix(glob[len(head):], "**") {
		head = strings.TrimSuffix(head, "/") // a/** matches a too
	}
	start, _ := slices.BinarySearch(g.paths, head)
	for _, p := range g.paths[start:] {
		if g.budget--; g.budget <= 0 || !strings.HasPrefix(p, head) {
			return false
		}
		if !strings.HasSuffix(p, tail) {
			continue
		}
		g.budget -= matching
		if ok, err := doublestar.Match(glob, p); err == nil && ok {
			return true
		}
	}
	return false
}
