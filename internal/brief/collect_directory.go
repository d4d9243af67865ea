package brief

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
	"ken/internal/uses"
)

// centralLimit is the maximal number of central files in a brief.
const centralLimit = 30

func (r *collector) directory(ctx context.Context, dir repo.Path, budget int, first ...Section) (*Brief, error) {
	layout, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	d := layout[dir]
	facts := DirectoryFacts{Path: dir, Project: r.project, Kinds: r.kind, Tests: r.tests(dir)}
	texts, _, err := r.survey.Summaries(ctx, append(childPaths(d), dir))
	if err != nil {
		return nil, err
	}
	words, err := r.dirWords(ctx, d, texts)
	if err != nil {
		return nil, err
	}
	specs, err := r.specs(ctx, dir)
	if err != nil {
		return nil, err
	}
	facts.Words = slices.Concat(first, []Section{words}, specs)
	pairs, err := r.pairs(ctx, dir)
	if err != nil {
		return nil, err
	}
	inside := string(dir) + "/"
	byPath := make(map[repo.Path]*CentralFile)
	for _, p := range pairs {
		outside := !strings.HasPrefix(string(p.From), inside)
		if outside {
			facts.Dependents = append(facts.Dependents, p)
		}
		if r.kind(p.To) != repo.KindSource {
			continue
		}
		c := byPath[p.To]
		if c == nil {
			c = &CentralFile{Path: p.To}
			byPath[p.To] = c
		}
		switch {
		case r.project.ForTests(p.From):
			c.Tests++
		case outside:
			c.Outside++
			fallthrough
		default:
			c.Users++
		}
	}
	for _, c := range byPath {
		facts.Central = append(facts.Central, *c)
		r.used = append(r.used, searchindex.UseCount{Path: c.Path, Users: c.Users, Tests: c.Tests})
	}
	slices.SortFunc(facts.Central, func(a, b CentralFile) int {
		return cmp.Or(cmp.Compare(b.Users+b.Outside, a.Users+a.Outside), cmp.Compare(b.Tests, a.Tests), strings.Compare(string(a.Path), string(b.Path)))
	})
	facts.Central = facts.Central[:min(len(facts.Central), centralLimit)]
	if err := r.describe(ctx, facts.Central); err != nil {
		return nil, err
	}
	if facts.Parts, err = r.parts(ctx, d, texts); err != nil {
		return nil, err
	}
	if facts.Entries, err = r.described(ctx, r.project.Entrypoints(dir)); err != nil {
		return nil, err
	}
	for _, p := range r.below(dir) {
		k := r.kind(p)
		follows := outline.MayHaveOutline(p) && uses.Supports(outline.LanguageOf(p, nil))
		facts.Code = facts.Code || k == repo.KindSource || k == repo.KindTest && follows
		facts.Followed = facts.Followed || follows && (k == repo.KindSource || k == repo.KindTest)
	}
	if facts.History, err = dirHistory(ctx, r.x, dir); err != nil {
		return nil, err
	}
	r.addLimits(&facts.History)
	return Directory(facts, budget), nil
}

// parts returns the subdirectories with what they are for: first those with code.
func (r *collector) parts(ctx context.Context, d *survey.Directory, texts map[repo.Path]survey.DirSummary) ([]Part, error) {
	var list []Part
	for _, c := range d.Children {
		if c.Excluded != "" || c.IsHidden() {
			continue
		}
		part, err := r.part(ctx, c, texts)
		if err != nil {
			return nil, err
		}
		if part.About != "" {
			list = append(list, part)
		}
	}
	r.sortParts(list)
	return list, nil
}
