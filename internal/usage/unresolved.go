package usage

import (
	"context"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ken/internal/english"
	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// Unresolved are the files that mention a name, and in which no rule of a language says what the name means: nobody
// can say that they do not use it.
type Unresolved struct {
	Files  int         `json:"files"`           // the number of files that mention it
	UpTo   int         `json:"up_to,omitempty"` // the number of files that may mention it, if they are too many to read
	Places []FileLines `json:"places"`
}

// IsZero reports whether there are none.
func (u Unresolved) IsZero() bool { return u.Files == 0 && u.UpTo == 0 }

// Text returns how many files there are, with the first few of them.
func (u Unresolved) Text(few int) string { return u.text(few, fewLines) }

func (u Unresolved) text(few, lines int) string {
	if u.UpTo > 0 {
		return "up to " + english.Count(u.UpTo, "file") + " may mention it; ken did not read them all"
	}
	var files []string
	for _, f := range u.Places[:min(few, len(u.Places))] {
		files = append(files, lineList(f.Path, f.Lines, f.More, lines))
	}
	verb := " mention it: "
	if u.Files == 1 {
		verb = " mentions it: "
	}
	return english.Count(u.Files, "file") + verb + listed(files, u.Files)
}

// add adds a file, or the lines of one that is there.
func (u *Unresolved) add(f FileLines) {
	i := slices.IndexFunc(u.Places, func(o FileLines) bool { return o.Path == f.Path })
	if i >= 0 {
		u.Places[i].addLines(f.Lines, f.More)
		return
	}
	u.Files++
	u.Places = append(u.Places, f)
}

// Limits of the search for mentions of a name.
const (
	maxMentionFiles = 500  // files that are read
	maxNamedAtAll   = 5000 // files that are asked for, to tell how many have a name that more files have
)

// A MentionSearch looks in the files of a tree for names that ken cannot resolve.
type MentionSearch struct {
	// Only selects the files to look in; nil selects all.
	Only func(repo.Path) bool

	ctx      context.Context
	index    *searchindex.Index
	tree     find.Tree
	source   *find.Source
	resolver func() (*uses.Resolver, error)
}

// NewMentionSearch returns a search in a tree, from an index that is up to date with it. paths are those of the index; if
// they are nil, it lists them itself.
func NewMentionSearch(
	ctx context.Context, x *searchindex.Index, t find.Tree, paths []repo.Path,
) *MentionSearch {
	m := &MentionSearch{ctx: ctx, index: x, tree: t, source: find.NewSource(ctx, x, t, paths)}
	m.resolver = sync.OnceValues(func() (*uses.Resolver, error) {
		if paths == nil {
			files, err := x.Files(ctx)
			if err != nil {
				return nil, err
			}
			m.source = find.NewSource(ctx, x, t, slices.Sorted(maps.Keys(files)))
		}
		return uses.NewResolver(m.source)
	})
	return m
}

// Of returns the unresolved mentions of a symbol that a file declares or declared: in code, in strings and in the
// files of languages without rules. Uses that lead to one of several declarations are among them. Documents, lock
// files and generated files are not, and neither are comments.
func (m *MentionSearch) Of(p repo.Path, s *outline.Symbol) (Unresolved, error) {
	found, err := m.search([]outline.Symbol{*s}, []repo.Path{p}, nil)
	all := found.unresolved
	for _, f := range found.ambiguous {
		all.add(f)
	}
	return all, err
}

// OfFile returns the unresolved mentions of a file, without those in its known users: of the symbols that other files
// can name, and imports of a module with its name that no rule settled. It stops after maxMentionFiles files.
func (m *MentionSearch) OfFile(p repo.Path, o *outline.Outline, users []searchindex.Edge) (Unresolved, error) {
	var all Unresolved
	add := func(f FileLines) {
		if !slices.ContainsFunc(users, func(e searchindex.Edge) bool { return e.From.String() == f.Path }) {
			all.add(f)
		}
	}
	if err := m.openImports(p, add); err != nil {
		return all, err
	}
	for i := range o.Symbols {
		s := &o.Symbols[i]
		if all.Files >= maxMentionFiles {
			break
		}
		isNamed := s.Kind != outline.Heading && s.Kind != outline.Impl
		if !isNamed || isMember(s) || isPrivate(p, s) {
			continue
		}
		found, err := m.Of(p, s)
		if err != nil {
			return all, err
		}
		all.UpTo = max(all.UpTo, found.UpTo)
		for _, f := range found.Places {
			add(f)
		}
	}
	return all, nil
}

// openImports calls add with the files whose imports may mean a file: no rule settled them, and they end in its name
// or, for a file that stands for its directory, in the name of that.
func (m *MentionSearch) openImports(p repo.Path, add func(FileLines)) error {
	name, _, _ := strings.Cut(p.Base(), ".")
	names := []string{name}
	switch name {
	case "index", "__init__", "mod", "lib", "main":
		names = append(names, p.Dir().Base())
	}
	importing, err := m.index.Importers(m.ctx, names)
	if err != nil {
		return err
	}
	var files []repo.File
	for _, other := range unique(importing) {
		f, err := m.index.File(m.ctx, other)
		if err != nil {
			return err
		}
		if other != p && uses.Family(other) == uses.Family(p) && m.mayMention(&f) {
			files = append(files, f.File)
		}
	}
	files = files[:min(len(files), maxMentionFiles)]
	return m.tree.References(m.ctx, files, func(f repo.File, refs *outline.References) error {
		file, err := m.source.File(f.Path)
		if err != nil || file == nil || refs == nil {
			return err
		}
		r, err := m.resolver()
		if err != nil {
			return err
		}
		found, err := r.Edges(file, &outline.References{Imports: refs.Imports, Partial: refs.Partial})
		if err != nil {
			return err
		}
		in := FileLines{PathJSON: f.Path.JSON()}
		for _, im := range found.Imports {
			isNamed := slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return slices.Contains(names, b.Name) })
			if isNamed || slices.ContainsFunc(names, func(name string) bool { return endsIn(im.Module, name) }) {
				in.addLines([]int{im.Line}, 0)
			}
		}
		if len(in.Lines) > 0 {
			add(in)
		}
		return nil
	})
}

// endsIn reports whether the last part of a module's name is name, with or without an extension.
func endsIn(module, name string) bool {
	for _, m := range []string{module, strings.TrimSuffix(module, path.Ext(module))} {
		before, ok := strings.CutSuffix(m, name)
		if ok && (before == "" || strings.ContainsAny(before[len(before)-1:], `/.:\\`)) {
			return true
		}
	}
	return false
}

// isPrivate reports whether only the package of a Go symbol can name it.
func isPrivate(p repo.Path, s *outline.Symbol) bool {
	return uses.Family(p) == outline.Go && !ast.IsExported(s.Name)
}

// namedIn are the files where a name has no certain meaning.
type namedIn struct {
	ambiguous  []FileLines // members of values of unknown type, in the language of the symbol
	unresolved Unresolved  // all others
}

// search reads the files that may mention one of some symbols with one name. In those that declare it or are known to
// use it, it looks only for members of values of unknown type.
func (m *MentionSearch) search(symbols []outline.Symbol, declaring []repo.Path, known map[repo.Path]bool) (namedIn, error) {
	var found namedIn
	s := &symbols[0]
	isKnown := func(p repo.Path) bool { return known[p] || slices.Contains(declaring, p) }
	terms := searchindex.Terms(s.Name)
	if len(terms) == 0 {
		return found, nil
	}
	candidates, err := m.index.FilesWith(m.ctx, terms[len(terms)-1:], maxNamedAtAll) // the last one is the whole name
	if err != nil {
		return found, err
	}
	private := isPrivate(declaring[0], s)
	candidates = slices.DeleteFunc(candidates, func(c searchindex.Entry) bool {
		isNoUse := !m.mayMention(&c)
		if isNoUse || isKnown(c.Path) && !isMember(s) {
			return true
		}
		isBeside := func(p repo.Path) bool { return p.Dir() == c.Path.Dir() }
		return private && !slices.ContainsFunc(declaring, isBeside)
	})
	slices.SortFunc(candidates, func(a, b searchindex.Entry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	files := make([]repo.File, len(candidates))
	for i, c := range candidates {
		files[i] = c.File
	}
	family := extensionFamily(declaring[0])
	isShort := len(files) <= maxMentionFiles
	if !isShort {
		found.unresolved.UpTo = len(files)
		files = slices.DeleteFunc(files, func(f repo.File) bool { return extensionFamily(f.Path) != family })
		files = files[:min(len(files), maxMentionFiles)]
	}
	err = m.tree.References(m.ctx, files, func(f repo.File, refs *outline.References) error {
		in, err := m.inFile(f, refs, s, isShort && !isKnown(f.Path))
		if err != nil {
			return err
		}
		in.open.Lines = m.withFittingCalls(f, &in.open, symbols)
		if len(in.open.Lines) > 0 && extensionFamily(f.Path) == family {
			found.ambiguous = append(found.ambiguous, in.open)
		} else {
			in.words.addLines(in.open.Lines, in.open.More)
		}
		if len(in.words.Lines) > 0 {
			found.unresolved.add(in.words)
		}
		return nil
	})
	return found, err
}

// mayMention reports whether a file can use a symbol. Documents and lock files use none, and generated and vendored
// files are not edited by hand.
func (m *MentionSearch) mayMention(f *searchindex.Entry) bool {
	return mayUse(f.Kind) && (m.Only == nil || m.Only(f.Path))
}

// mayUse reports whether files of a kind can use a symbol.
func mayUse(k repo.Kind) bool {
	switch k {
	case repo.KindSource, repo.KindTest, repo.KindConfig, repo.KindData, repo.KindUnknown:
		return true
	default:
		return false
	}
}

// fileMentions are the mentions in one file.
type fileMentions struct {
	open  FileLines // members of values of unknown type
	words FileLines // all other mentions that no rule settles
}

// inFile returns the unresolved mentions of a symbol in one file. It reads the file only if that is wanted.
func (m *MentionSearch) inFile(
	f repo.File, refs *outline.References, s *outline.Symbol, read bool,
) (fileMentions, error) {
	var found fileMentions
	found.open.PathJSON = f.Path.JSON()
	found.words.PathJSON = f.Path.JSON()
	file, err := m.source.File(f.Path)
	if err != nil {
		return found, err
	}
	resolved := false
	settled := make(map[int]bool) // lines whose members are known
	settledAll := false           // or some lines are not listed
	if file != nil && refs != nil && uses.Supports(file.Language) {
		resolved = refs.Partial == "" && refs.More == 0
		left, err := m.openIn(file, refs, s)
		if err != nil {
			return found, err
		}
		for _, u := range left.Open {
			switch {
			case isMember(s) && u.Member:
				found.open.addLines(u.Lines, u.More)
			case !isMember(s) && u.Name != s.Name: // the name stands before a member
				found.words.addLines(u.Lines, u.More)
			case !isMember(s) && (!u.Member || mayBeModule(file, u.Qualifier)):
				found.words.addLines(u.Lines, u.More)
			}
		}
		for _, im := range left.Imports {
			if importsName(im, s.Name) {
				found.words.addLines([]int{im.Line}, 0)
			}
		}
		for _, u := range refs.Uses {
			settledAll = settledAll || u.Name == s.Name && u.More > 0
			for _, line := range u.Lines {
				settled[line] = settled[line] || u.Name == s.Name
			}
		}
		settledAll = settledAll || slices.ContainsFunc(file.Symbols, func(o outline.Symbol) bool { return o.Name == s.Name })
	}
	if !read {
		return found, nil
	}
	lang := outline.Unknown
	if file != nil {
		lang = file.Language
	}
	for _, w := range wordsIn(m.tree.Read(m.ctx, f.Path), s.Name, lang) {
		isOpen := slices.Contains(found.open.Lines, w.line)
		isLeftOut := isMember(s) && (w.attribute || w.member && !settled[w.line] && !settledAll)
		if !isOpen && (w.quoted || !resolved || isLeftOut) {
			found.words.addLines([]int{w.line}, 0)
		}
	}
	return found, nil
}

// mayBeModule reports whether the value before a dot may be a module or a package: a name that an import binds, or in
// languages whose modules are values any other.
func mayBeModule(file *uses.ParsedFile, qualifier string) bool {
	switch uses.Family(file.Path) {
	case outline.Go, outline.Rust, outline.Java, outline.C, outline.CSharp:
		if strings.Contains(qualifier, outline.CalledMark) {
			return false // what a function returns
		}
		first, _, _ := strings.Cut(qualifier, ".")
		return slices.ContainsFunc(file.Imports, func(im outline.Import) bool {
			isBound := slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return b.Local() == first })
			return first != "" && (isBound || path.Base(im.Module) == first)
		})
	default:
		return true
	}
}

// importsName reports whether an import binds a name of a module: use a::Name has the name at the end of its module.
func importsName(im outline.Import, name string) bool {
	return slices.ContainsFunc(im.Names, func(b outline.Binding) bool {
		return b.Name == name || b.Name == "" && endsIn(im.Module, name)
	})
}

// openIn returns what the rules of the language leave open about a name in a file.
func (m *MentionSearch) openIn(
	file *uses.ParsedFile, refs *outline.References, s *outline.Symbol,
) (uses.Resolution, error) {
	part := &outline.References{Imports: refs.Imports, Partial: refs.Partial}
	isNamed := func(im outline.Import) bool { return importsName(im, s.Name) }
	isBound := isMember(s) || slices.ContainsFunc(refs.Imports, isNamed)
	for _, u := range refs.Uses {
		first, _, _ := strings.Cut(u.Qualifier, "::")
		if u.Name == s.Name || !isBound && first == s.Name {
			part.Uses = append(part.Uses, u)
		}
	}
	if len(part.Uses) == 0 && !slices.ContainsFunc(refs.Imports, isNamed) {
		return uses.Resolution{}, nil
	}
	r, err := m.resolver()
	if err != nil {
		return uses.Resolution{}, err
	}
	return r.Edges(file, part)
}
