package brief

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/repo"
	"ken/internal/survey"
)

func (r *collector) repository(ctx context.Context, budget int) (*Brief, error) {
	layout, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	facts := RepositoryFacts{Project: r.project, Tests: r.tests("")}
	root := layout[""]
	if root == nil {
		return Empty(), nil
	}
	asked := []repo.Path{""}
	for _, c := range root.Children {
		asked = append(append(asked, c.Path), childPaths(c)...)
	}
	texts, stale, err := r.survey.Summaries(ctx, asked)
	if err != nil {
		return nil, err
	}
	words, err := r.dirWords(ctx, root, texts)
	if err != nil {
		return nil, err
	}
	facts.Words = []Section{words}
	if r.x != nil {
		if err := r.readMostUsed(ctx); err != nil {
			return nil, err
		}
		if facts.History, err = dirHistory(ctx, r.x, ""); err != nil {
			return nil, err
		}
		r.addLimits(&facts.History)
	}
	if facts.Parts, err = r.mainParts(ctx, root, texts); err != nil {
		return nil, err
	}
	for _, u := range r.used {
		if !IsProduct(u.Path) || len(facts.Central) == MostUsed {
			continue
		}
		facts.Central = append(facts.Central, CentralFile{Path: u.Path, Users: u.Users, Tests: u.Tests})
	}
	if err := r.describe(ctx, facts.Central); err != nil {
		return nil, err
	}
	if facts.Start, err = r.described(ctx, r.start()); err != nil {
		return nil, err
	}
	isProgram := func(d FileAbout) bool { return r.kind(d.Path) == repo.KindSource && !IsModuleFile(d.Path) }
	if !slices.ContainsFunc(facts.Start, isProgram) {
		hubs, err := r.hubs(ctx, facts.Central)
		if err != nil {
			return nil, err
		}
		facts.Start = append(facts.Start, hubs...)
	}
	for i, d := range facts.Start {
		if strings.HasPrefix(strings.ToLower(d.Path.Base()), "readme") {
			facts.Start[i].About = "" // the first line of the brief has it
		}
	}
	for _, t := range stale {
		facts.Stale = append(facts.Stale, StaleSummary{Subject: "summary of " + repo.DirLabel(t.Path).String(), Why: english.First(t.Reasons, 3)})
	}
	for _, p := range r.paths {
		if r.t.Stale(p) {
			facts.Stale = append(facts.Stale, StaleSummary{Subject: "summary of " + p.String(), Why: "the file changed since"})
		}
	}
	return Repository(facts, budget), nil
}

// maxParts is how many parts of a repository are described.
const maxParts = 24

// mainParts returns the directories at the root with what they are for, those with most code
// first. If a directory has no text about itself, or most of the code, its subdirectories are
// listed too.
func (r *collector) mainParts(ctx context.Context, root *survey.Directory, texts map[repo.Path]survey.DirSummary) ([]Part, error) {
	all := r.sources("")
	var list []Part
	var below []*survey.Directory
	for _, d := range root.Children {
		if d.Excluded != "" || d.IsHidden() {
			continue
		}
		for len(d.Files) == 0 && len(d.Children) == 1 {
			d = d.Children[0]
		}
		part, err := r.part(ctx, d, texts)
		if err != nil {
			return nil, err
		}
		most := r.sources(d.Path)*2 > all
		if d.IsCode() && (part.About == "" || len(d.Files) == 0 || most) {
			below = append(below, d.Children...)
		}
		if part.About == "" && (!d.IsCode() || len(d.Files) > 0) {
			part.About = cmp.Or(r.mostUsed(d.Path), r.testCount(d.Path))
		}
		list = append(list, part)
	}
	slices.SortStableFunc(below, func(a, b *survey.Directory) int { return cmp.Compare(r.sources(b.Path), r.sources(a.Path)) })
	for _, d := range below[:min(len(below), maxParts)] {
		if d.Excluded != "" {
			continue
		}
		part, err := r.part(ctx, d, texts)
		if err != nil {
			return nil, err
		}
		if part.About == "" && d.IsCode() {
			part.About = r.mostUsed(d.Path)
		}
		list = append(list, part)
	}
	list = r.dropWrapperDirs(list)
	if err := r.distinguish(ctx, list, texts); err != nil {
		return nil, err
	}
	r.sortParts(list)
	return list, nil
}

// mostUsedMark begins a line about a directory that says nothing of itself.
const mostUsedMark = "most used: "

// mostUsed describes a directory by its most used files, "" if no file of it has two users.
func (r *collector) mostUsed(dir repo.Path) string {
	var names []string
	for _, u := range r.used {
		rest, ok := strings.CutPrefix(string(u.Path), string(dir)+"/")
		if ok && u.Users > 1 && len(names) < 3 {
			names = append(names, fmt.Sprintf("%s (by %d files)", repo.Path(rest), u.Users))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return mostUsedMark + strings.Join(names, ", ")
}

// startPrograms is how many programs are named as a place to start reading.
const startPrograms = 4

// start lists where to begin to read: documents about the whole, then programs.
func (r *collector) start() []repo.Path {
	var list []repo.Path
	for _, want := range []string{"readme", "architecture", "design", "hacking", "contributing", "development", "agents", "claude", "guide"} {
		for _, p := range r.paths {
			dir := string(p.Dir())
			if r.kind(p) != repo.KindDoc && r.kind(p) != repo.KindSymlink || dir != "" && dir != "docs" && dir != "doc" && dir != ".github" {
				continue
			}
			stem, ext, _ := strings.Cut(strings.ToLower(p.Base()), ".")
			translated := strings.Contains(ext, ".")
			if stem == want && !translated && !slices.ContainsFunc(list, func(o repo.Path) bool { return strings.EqualFold(o.Base(), p.Base()) }) {
				list = append(list, p)
			}
		}
	}
	programs := slices.DeleteFunc(r.project.Entrypoints(""), func(p repo.Path) bool { return PartRank(p.Dir()) > 0 })
	return append(list, programs[:min(len(programs), startPrograms)]...)
}
