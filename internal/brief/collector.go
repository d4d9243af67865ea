package brief

import (
	"context"
	"slices"

	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
)

// A collector collects the facts for one brief.
type collector struct {
	*Briefer
	x      *searchindex.Index // nil for the brief of the repository without facts from the index
	t      *find.IndexedTree
	survey *survey.Survey

	paths   []repo.Path // of all files, sorted
	project *project.Project
	used    []searchindex.UseCount // source files with how often they are used
	dirs    map[repo.Path]*survey.Directory

	sourceCounts map[repo.Path]int // that were asked for, by directory
}

// brief returns the brief of a path, within a budget in tokens.
func (r *collector) brief(ctx context.Context, p repo.Path, budget int) (b *Brief, err error) {
	r.paths = r.t.Paths()
	if r.project, err = project.New(r.paths, func(p repo.Path) ([]byte, error) { return r.read(ctx, p), nil }); err != nil {
		return nil, err
	}
	if f := r.t.Listed(p); f != nil && f.Kind == repo.KindSymlink {
		return r.link(ctx, f, budget)
	}
	return r.briefOf(ctx, p, budget)
}

// briefOf returns the brief of a path that is no link, with sections that go before all others.
func (r *collector) briefOf(ctx context.Context, p repo.Path, budget int, first ...Section) (*Brief, error) {
	switch f := r.t.Listed(p); {
	case p == "":
		return r.repository(ctx, budget)
	case f != nil:
		return r.file(ctx, f, budget, first...)
	case len(r.below(p)) > 0:
		return r.directory(ctx, p, budget, first...)
	}
	return nil, r.t.PathNotFoundError(ctx, "brief", p)
}

func (r *collector) kind(p repo.Path) repo.Kind {
	if f := r.t.Listed(p); f != nil {
		return f.Kind
	}
	return repo.KindUnknown
}

// below returns the paths of the files below a directory.
func (r *collector) below(dir repo.Path) []repo.Path {
	if dir == "" {
		return r.paths
	}
	first, _ := slices.BinarySearch(r.paths, dir+"/")
	end, _ := slices.BinarySearch(r.paths, dir+"0") // the character after the slash
	return r.paths[first:end]
}

// tests returns the test files below a directory.
func (r *collector) tests(dir repo.Path) []repo.Path {
	var list []repo.Path
	for _, p := range r.below(dir) {
		if r.project.IsTest(p) {
			list = append(list, p)
		}
	}
	return list
}

// hasUniqueName reports whether no other file has the name of a file.
func (r *collector) hasUniqueName(p repo.Path) bool {
	return !slices.ContainsFunc(r.paths, func(o repo.Path) bool { return o != p && o.Base() == p.Base() })
}

// sources counts the source files below a directory.
func (r *collector) sources(dir repo.Path) int {
	n, ok := r.sourceCounts[dir]
	if ok {
		return n
	}
	for _, p := range r.below(dir) {
		if r.kind(p) == repo.KindSource {
			n++
		}
	}
	if r.sourceCounts == nil {
		r.sourceCounts = make(map[repo.Path]int)
	}
	r.sourceCounts[dir] = n
	return n
}

// outlines returns the outlines of files, nil for a file without one.
func (r *collector) outlines(ctx context.Context, files []*repo.File) ([]*outline.Outline, error) {
	seen, err := r.t.Outlines(ctx, files)
	if err != nil {
		return nil, err
	}
	list := make([]*outline.Outline, len(files))
	for i, s := range seen {
		list[i] = s.Outline
	}
	return list, nil
}

func (r *collector) layout(ctx context.Context) (map[repo.Path]*survey.Directory, error) {
	order, err := r.survey.Layout(ctx)
	if err != nil {
		return nil, err
	}
	byPath := make(map[repo.Path]*survey.Directory, len(order))
	for _, d := range order {
		byPath[d.Path] = d
	}
	r.dirs = byPath
	return byPath, nil
}

func childPaths(d *survey.Directory) []repo.Path {
	var list []repo.Path
	for _, c := range d.Children {
		list = append(list, c.Path)
	}
	return list
}
