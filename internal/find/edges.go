package find

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// A source gives a resolver the facts of an indexed tree.
type source struct {
	ctx   context.Context
	index *searchindex.Index
	tree  Tree
	paths []repo.Path
}

func (s *source) Paths() []repo.Path { return s.paths }

func (s *source) Read(p repo.Path) ([]byte, error) { return s.tree.Read(s.ctx, p), nil }

func (s *source) File(p repo.Path) (*uses.File, error) {
	o, imports, ok, err := s.index.Facts(s.ctx, p)
	if err != nil || !ok {
		return nil, err
	}
	return &uses.File{Path: p, Language: o.Language, Package: o.Package, Symbols: o.Symbols, Imports: imports}, nil
}

func (s *source) Declarations(name string) ([]uses.Declaration, error) {
	found, err := s.index.Declarations(s.ctx, name)
	list := make([]uses.Declaration, len(found))
	for i, d := range found {
		list[i] = uses.Declaration{Path: d.Path, Symbol: d.Symbol}
	}
	return list, err
}

// A change is a file that the update put into the index or took out.
type change struct {
	path     repo.Path
	declares bool // other names than before, or the file is new or gone
	appears  bool // the file is new or gone
}

// updateEdges computes again the edges of the files whose uses may lead elsewhere now.
func updateEdges(ctx context.Context, w *searchindex.Writer, t Tree, files []File, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	again, err := affected(ctx, w, files, changes)
	if err != nil {
		return err
	}
	src := &source{ctx: ctx, index: w.Index, tree: t, paths: make([]repo.Path, len(files))}
	for i, f := range files {
		src.paths[i] = f.Path
	}
	r, err := uses.NewResolver(src)
	if err != nil {
		return err
	}
	return t.References(ctx, again, func(f File, refs *outline.References) error {
		if refs == nil || f.Kind == repo.KindVendored {
			return nil
		}
		file, err := src.File(f.Path)
		if err != nil || file == nil {
			return err
		}
		edges, ambiguous, err := r.Edges(file, refs)
		if err != nil {
			return fmt.Errorf("find what %s uses: %w", f.Path, err)
		}
		list := make([]searchindex.Edge, len(edges))
		for i, e := range edges {
			list[i] = searchindex.Edge{
				From: e.From, To: e.To, Symbol: e.Symbol, Kind: e.Kind, Lines: e.Lines, More: e.More,
				Exact: e.Certainty == uses.Exact, Via: e.Via,
			}
		}
		return w.PutEdges(f.Path, list, ambiguous)
	})
}

// affected lists the files whose edges may differ after some changes: the changed files
// themselves; where declared names changed, the files that use something of the same directory;
// where a file appeared or is gone, also those with an import that ends in its name. A changed
// manifest affects all files.
func affected(ctx context.Context, w *searchindex.Writer, files []File, changes []change) ([]File, error) {
	wanted := make(map[repo.Path]bool)
	dirs := make(map[repo.Path]bool)
	for _, c := range changes {
		if uses.IsManifest(c.path) {
			return files, nil
		}
		wanted[c.path] = true
		if c.declares {
			dirs[c.path.Dir()] = true
		}
		if c.appears {
			base := c.path.Base()
			names := []string{strings.TrimSuffix(base, path.Ext(base)), c.path.Dir().Base()}
			list, err := w.Wanting(ctx, names)
			if err != nil {
				return nil, err
			}
			for _, p := range list {
				wanted[p] = true
			}
		}
	}
	if 2*len(wanted) > len(files) {
		return files, nil
	}
	for dir := range dirs {
		edges, err := w.UsersBelow(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range edges {
			wanted[e.From] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		return !wanted[f.Path] && !(dirs[f.Path.Dir()])
	}), nil
}

// declared returns the names that a file declares, to compare two versions of it.
func declared(symbols []outline.Symbol) string {
	var b strings.Builder
	for i := range symbols {
		if s := &symbols[i]; s.Kind != outline.Heading {
			fmt.Fprintf(&b, "%s %s %t\n", s.Kind, s.FullName(), s.Exported)
		}
	}
	return b.String()
}
