package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/brief"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
)

// sortParts puts the directories with most code and users first, and those with tests,
// examples and tools last.
func (r *briefReader) sortParts(list []brief.Part) {
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
	slices.SortStableFunc(list, func(a, b brief.Part) int {
		return cmp.Or(cmp.Compare(brief.PartRank(a.Path), brief.PartRank(b.Path)), cmp.Compare(weight[b.Path], weight[a.Path]))
	})
}

// withoutShells removes the directories of which only most used files are known, if a
// subdirectory with nearly all of them is listed too.
func (r *briefReader) withoutShells(list []brief.Part) []brief.Part {
	return slices.DeleteFunc(slices.Clone(list), func(p brief.Part) bool {
		return strings.HasPrefix(p.About, mostUsedMark) && slices.ContainsFunc(list, func(c brief.Part) bool {
			inside := c.Path != p.Path && c.Path.Under(p.Path)
			return inside && r.sources(c.Path)*10 >= r.sources(p.Path)*8
		})
	})
}

// distinguish replaces a text that several parts have by one that is about each of them: that
// of its sources, or its most used files.
func (r *briefReader) distinguish(ctx context.Context, list []brief.Part, texts map[repo.Path]survey.DirText) error {
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

// testCount tells of a directory that has mostly tests, "" for any other.
func (r *briefReader) testCount(dir repo.Path) string {
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
func (r *briefReader) hubs(ctx context.Context, central []brief.Central) ([]brief.Described, error) {
	uses := make(map[repo.Path]int)
	for _, c := range central {
		edges, err := r.x.Uses(ctx, c.Path)
		if err != nil {
			return nil, err
		}
		uses[c.Path] = len(searchindex.Links(edges, func(e searchindex.Edge) repo.Path { return e.To }))
	}
	list := slices.Clone(central)
	slices.SortStableFunc(list, func(a, b brief.Central) int { return cmp.Compare(uses[b.Path], uses[a.Path]) })
	var hubs []brief.Described
	for _, c := range list[:min(len(list), startHubs)] {
		hubs = append(hubs, brief.Described{Path: c.Path, About: c.About})
	}
	return hubs, nil
}
