package brief

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
)

// sortParts puts the directories with most code and users first, and those with tests,
// examples and tools last.
func (r *collector) sortParts(list []Part) {
	weight := make(map[repo.Path]int, len(list))
	for _, part := range list {
		n := 0
		for _, u := range r.used {
			if u.Path.Under(part.Path) {
				n += u.Users
			}
		}
		weight[part.Path] = r.sources(part.Path) + n/4
	}
	slices.SortStableFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(PartRank(a.Path), PartRank(b.Path)), cmp.Compare(weight[b.Path], weight[a.Path]))
	})
}

// dropWrapperDirs removes the directories that are described only by their most used files, if a listed
// subdirectory has at least 80% of their source files.
func (r *collector) dropWrapperDirs(list []Part) []Part {
	return slices.DeleteFunc(slices.Clone(list), func(p Part) bool {
		return strings.HasPrefix(p.About, mostUsedMark) && slices.ContainsFunc(list, func(c Part) bool {
			inside := c.Path != p.Path && c.Path.Under(p.Path)
			return inside && r.sources(c.Path)*10 >= r.sources(p.Path)*8
		})
	})
}

// distinguish replaces a text that several parts have by one that is about each of them: that
// of its sources, or its most used files.
func (r *collector) distinguish(ctx context.Context, list []Part, texts map[repo.Path]survey.DirSummary) error {
	times := make(map[string]int)
	for _, p := range list {
		times[p.About]++
	}
	for i := range list {
		p := &list[i]
		if p.About == "" || times[p.About] == 1 || p.Verdict != "" {
			continue
		}
		p.About = ""
		if d := r.dirs[p.Path+"/src"]; d != nil {
			source, err := r.part(ctx, d, texts)
			if err != nil {
				return err
			}
			p.About = source.About
		}
		if p.About == "" || times[p.About] > 0 {
			p.About = r.mostUsed(p.Path)
		}
	}
	return nil
}

// testCount describes a directory with at least three tests that are at least half of its files, "" for any other.
func (r *collector) testCount(dir repo.Path) string {
	n := len(r.tests(dir))
	if n < 3 || n*2 < len(r.below(dir)) {
		return ""
	}
	return fmt.Sprintf("%d test files", n)
}

// startHubs is how many files of a library are named as a place to start reading.
const startHubs = 2

// hubs returns those of the central files that use most others: there the parts of a library,
// which has no program, come together.
func (r *collector) hubs(ctx context.Context, central []CentralFile) ([]FileAbout, error) {
	uses := make(map[repo.Path]int)
	for _, c := range central {
		edges, err := r.x.Uses(ctx, c.Path)
		if err != nil {
			return nil, err
		}
		uses[c.Path] = len(searchindex.Links(edges, func(e searchindex.Edge) repo.Path { return e.To }))
	}
	list := slices.Clone(central)
	slices.SortStableFunc(list, func(a, b CentralFile) int { return cmp.Compare(uses[b.Path], uses[a.Path]) })
	var hubs []FileAbout
	for _, c := range list[:min(len(list), startHubs)] {
		hubs = append(hubs, FileAbout{Path: c.Path, About: c.About})
	}
	return hubs, nil
}
