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
	rules    bool // of a manifest: resolving depends on something that changed
}

// whichEdges selects the files whose edges are computed again after some changes.
type whichEdges func(ctx context.Context, w *searchindex.Writer, files []File, changes []change) ([]File, error)

// changedOnly selects the files that changed.
func changedOnly(_ context.Context, _ *searchindex.Writer, files []File, changes []change) ([]File, error) {
	changed := make(map[repo.Path]bool, len(changes))
	for _, c := range changes {
		changed[c.path] = true
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !changed[f.Path] }), nil
}

// updateEdges computes again the edges of the files whose uses may lead elsewhere now.
func updateEdges(ctx context.Context, w *searchindex.Writer, t Tree, files []File, changes []change, which whichEdges) error {
	if len(changes) == 0 {
		return nil
	}
	again, err := which(ctx, w, files, changes)
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

// affected lists the files whose edges may differ after some changes. A manifest that
// resolving depends on affects all files. A changed file affects itself. If it declares other names, it affects
//   - the files of its directory, and the files that use something of its directory;
//   - the files that use those, as long as they may export names of others again;
//   - in a language that is resolved by names, all files of such languages;
//   - if it is new or gone, the files with an import that ends in its name.
func affected(ctx context.Context, w *searchindex.Writer, files []File, changes []change) ([]File, error) {
	wanted := make(map[repo.Path]bool)
	dirs := make(map[repo.Path]bool)
	byName := false
	for _, c := range changes {
		if uses.IsManifest(c.path) && (c.appears || c.rules) {
			return files, nil
		}
		wanted[c.path] = true
		if c.declares {
			dirs[c.path.Dir()] = true
			byName = byName || isByName(c.path)
		}
		if !c.appears {
			continue
		}
		base := c.path.Base()
		list, err := w.Wanting(ctx, []string{strings.TrimSuffix(base, path.Ext(base)), c.path.Dir().Base()})
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			wanted[p] = true
		}
	}
	if 2*len(wanted) > len(files) {
		return files, nil
	}
	for dir := range dirs {
		if err := addUsers(ctx, w, dir, wanted); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		return !wanted[f.Path] && !dirs[f.Path.Dir()] && (!byName || !isByName(f.Path))
	}), nil
}

// isByName reports whether a file is in a language whose names are resolved over the whole tree.
func isByName(p repo.Path) bool {
	switch outline.LanguageOf(p, nil) {
	case outline.C, outline.CPP, outline.CSharp, outline.Ruby, outline.PHP, outline.Bash, outline.Unknown:
		return true
	default:
		return false
	}
}

// addUsers adds the files that use something of a directory, and the users of those among them
// that may export it again. Only in Go does no file export the names of another.
func addUsers(ctx context.Context, w *searchindex.Writer, dir repo.Path, wanted map[repo.Path]bool) error {
	edges, err := w.UsersOfDir(ctx, dir)
	if err != nil {
		return err
	}
	seen := make(map[repo.Path]bool)
	for len(edges) > 0 {
		e := edges[0]
		edges = edges[1:]
		if seen[e.From] {
			continue
		}
		seen[e.From], wanted[e.From] = true, true
		if outline.LanguageOf(e.From, nil) == outline.Go {
			continue
		}
		more, err := w.Users(ctx, e.From)
		if err != nil {
			return err
		}
		edges = append(edges, more...)
	}
	return nil
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
