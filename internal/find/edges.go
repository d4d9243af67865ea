package find

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// A Source provides the facts of an indexed tree to a resolver.
type Source struct {
	ctx   context.Context
	index *searchindex.Index
	tree  Tree
	paths []repo.Path
}

// NewSource returns the source for a tree with these paths, from an index that is up to date with it.
func NewSource(ctx context.Context, x *searchindex.Index, t Tree, paths []repo.Path) *Source {
	return &Source{ctx: ctx, index: x, tree: t, paths: paths}
}

// Paths lists the files of the tree.
func (s *Source) Paths() []repo.Path { return s.paths }

// Links returns the targets of symbolic links.
func (s *Source) Links() (map[repo.Path]string, error) {
	paths, err := s.index.PathsOfKind(s.ctx, repo.KindSymlink)
	if err != nil {
		return nil, err
	}
	links := make(map[repo.Path]string, len(paths))
	for _, p := range paths {
		links[p] = string(s.tree.Read(s.ctx, p))
	}
	return links, nil
}

// Read returns the content of a file.
func (s *Source) Read(p repo.Path) ([]byte, error) { return s.tree.Read(s.ctx, p), nil }

// File returns the facts of a file, nil if there are none.
func (s *Source) File(p repo.Path) (*uses.ParsedFile, error) {
	o, imports, ok, err := s.index.Facts(s.ctx, p)
	if err != nil || !ok {
		return nil, err
	}
	return &uses.ParsedFile{Path: p, Outline: &o, Imports: imports}, nil
}

// Declarations lists the declarations of a name.
func (s *Source) Declarations(name string) ([]uses.Declaration, error) {
	found, err := s.index.Declarations(s.ctx, name)
	list := make([]uses.Declaration, len(found))
	for i, d := range found {
		list[i] = uses.Declaration{Path: d.Path, Symbol: d.Symbol}
	}
	return list, err
}

// affected are the files whose edges a change of the tree may alter: some files, and all of some families of languages.
type affected struct {
	files    map[repo.Path]bool
	families map[outline.Language]bool
}

func (a affected) add(families []outline.Language) {
	for _, f := range families {
		a.families[f] = true
	}
}

func (a affected) has(p repo.Path) bool {
	family := uses.Family(p)
	mayBeScript := family == outline.Unknown && outline.MayHaveOutline(p)
	return a.files[p] || a.families[family] || mayBeScript && len(a.families) > 0
}

// updateEdges computes the edges of affected files again.
func updateEdges(ctx context.Context, w *searchindex.Writer, t Tree, files []repo.File, a affected) error {
	if len(a.files) == 0 {
		return nil
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	src := NewSource(ctx, w.Index, t, paths)
	r, err := uses.NewResolver(src)
	if err != nil {
		return err
	}
	again := slices.DeleteFunc(slices.Clone(files), func(f repo.File) bool { return !a.has(f.Path) })
	err = t.References(ctx, again, func(f repo.File, refs *outline.References) error {
		if refs == nil || f.Kind == repo.KindVendored {
			return nil
		}
		file, err := src.File(f.Path)
		if err != nil || file == nil {
			return err
		}
		found, err := r.Edges(file, refs)
		if err != nil {
			return fmt.Errorf("find what %s uses: %w", f.Path, err)
		}
		return w.PutEdges(f.Path, indexEdges(found.Edges), indexEdges(found.Own), found.Ambiguous)
	})
	if err != nil {
		return err
	}
	return w.CountUsers()
}

func indexEdges(edges []uses.Edge) []searchindex.Edge {
	list := make([]searchindex.Edge, len(edges))
	for i, e := range edges {
		list[i] = searchindex.Edge{
			From: e.From, To: e.To, Symbol: e.Symbol, Kind: e.Kind, Lines: e.Lines, More: e.More,
			Exact: e.Certainty == uses.Exact, Via: e.Via,
		}
	}
	return list
}
