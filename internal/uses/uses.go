// Package uses finds which files of a repository use which others.
//
// It resolves the imports and names of one file (see [outline.References]) to files and
// symbols of the same tree, by the rules of the file's language. Each [Edge] has a
// certainty: an exact one was resolved through an import, a package or a stated type; a
// likely one leads to the only declaration of that name in reach. A name that leads to the
// file itself or out of the repository has no edge. All other uses are open: they may lead to
// any declaration of their name.
//
//	r, err := uses.NewResolver(src)
//	found, err := r.Edges(file, refs)
//
// The package reads no files. A [Source] provides the facts of a tree, and is asked only for paths
// that the tree has.
package uses

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"ken/internal/manifest"
	"ken/internal/outline"
	"ken/internal/repo"
)

// Source provides the facts about the files of one tree. All paths are from the root.
type Source interface {
	// Paths returns all tracked files.
	Paths() []repo.Path
	// Links returns the targets of the tracked symbolic links, as the links have them.
	Links() (map[repo.Path]string, error)
	// Read returns the content of a small manifest: go.mod, go.work, package.json,
	// tsconfig.json and the files that it extends, pyproject.toml, Cargo.toml and the like. It is
	// asked only for paths that Paths lists.
	Read(p repo.Path) ([]byte, error)
	// File returns the facts of a file, nil when there are none. It is asked once for each
	// file.
	File(p repo.Path) (*ParsedFile, error)
	// Declarations returns every declaration of a name in the tree. It is asked once for
	// each name, and only for languages that are resolved by names, and C.
	Declarations(name string) ([]Declaration, error)
}

// A ParsedFile has the facts about one file. Of its outline, Language and Package are set, and Kind, Name, Qualified,
// Exported, Depth and Line of the symbols.
type ParsedFile struct {
	*outline.Outline
	Path    repo.Path
	Imports []outline.Import
}

// A Declaration is a symbol and the file that declares it.
type Declaration struct {
	Path   repo.Path
	Symbol outline.Symbol
}

// A Certainty is how an edge was found.
type Certainty string

// The certainties.
const (
	Exact  Certainty = "exact"  // through an import, a package or a stated type
	Likely Certainty = "likely" // the only declaration of that name in reach
)

// An Edge says that From uses a symbol of To.
type Edge struct {
	From, To  repo.Path
	Symbol    string // full name in To; "" when the file as a whole is imported
	Kind      outline.UseKind
	Lines     []int // in From, ascending, at most outline.MaxUseLines
	More      int   // further places
	Certainty Certainty
	Via       repo.Path // the imported file that re-exports the symbol; "" when To itself is imported
}

// A Resolution tells where the imports and uses of one file lead. Each of them is open unless a rule settled it: the
// rule added an edge, or proved that no declaration of another file is meant.
type Resolution struct {
	Edges   []Edge           // to other files, sorted
	Own     []Edge           // to declarations of the file itself
	Open    []outline.Use    // in the order of the references
	Imports []outline.Import // open imports; Names has only the open names, if the module is known
	// Ambiguous counts the imports and uses with several possible declarations.
	Ambiguous int
}

// A Resolver finds the edges of the files of one tree. It is safe for concurrent use, and
// it remembers facts of the tree: a changed tree needs a new one.
type Resolver struct {
	src   Source
	files map[repo.Path]struct{}
	dirs  map[repo.Path][]repo.Path // the files directly in each directory
	links map[repo.Path]string      // the targets of symbolic links

	goModules goModules
	script    scriptConfigs
	python    pythonConfigs
	crates    crates

	exports       memo[exportKey, meaning] // of TypeScript and Python files
	stars         memo[repo.Path, []module]
	importedFiles memo[repo.Path, []repo.Path] // of TypeScript and Python files
	facts         memo[repo.Path, *fileFacts]
	named         memo[string, []decl] // declarations of the whole tree
	goDirs        memo[repo.Path, *goDirectory]
	tsconfigs     memo[repo.Path, *tsconfig]
	outputs       memo[repo.Path, []output] // by the directory of a package
	pyRoots       memo[repo.Path, []repo.Path]
	javaDirs      memo[struct{}, map[string][]repo.Path] // of packages
	javaPackages  memo[string, declIndex]

	// Indexes of the whole tree, made when they are first needed.
	byBase         func() map[string][]repo.Path // all paths by their last element
	pyDirs         func() map[repo.Path]bool     // directories with Python files in or below them
	pyNames        func() map[string]bool        // see readPyNames
	pyPackages     func() map[string][]repo.Path // topmost packages by name
	pyProjectRoots func() []repo.Path            // source roots of all projects
}

// NewResolver reads the manifests of a tree. A manifest that is broken counts as absent.
// The error is one of the source's.
func NewResolver(src Source) (*Resolver, error) {
	paths := src.Paths()
	r := &Resolver{
		src:   src,
		files: make(map[repo.Path]struct{}, len(paths)),
		dirs:  make(map[repo.Path][]repo.Path),
	}
	r.byBase = sync.OnceValue(r.readBases)
	r.pyDirs = sync.OnceValue(r.readPyDirs)
	r.pyNames = sync.OnceValue(r.readPyNames)
	r.pyPackages = sync.OnceValue(r.readPyPackages)
	r.pyProjectRoots = sync.OnceValue(r.readPyProjectRoots)
	links, err := src.Links()
	if err != nil {
		return nil, fmt.Errorf("list symbolic links: %w", err)
	}
	r.links = links
	var manifests []repo.Path
	for _, p := range paths {
		r.files[p] = struct{}{}
		r.dirs[p.Dir()] = append(r.dirs[p.Dir()], p)
		if isManifest(p.Base()) && !isForeign(p) {
			manifests = append(manifests, p)
		}
	}
	slices.Sort(manifests)
	for _, p := range manifests {
		content, err := r.read(p)
		if err != nil {
			return nil, err
		}
		r.addManifest(p, content)
	}
	r.goModules.finish()
	r.script.finish()
	r.crates.finish(r)
	return r, nil
}

// read returns the content of a tracked file, nil when it is no longer there.
func (r *Resolver) read(p repo.Path) ([]byte, error) {
	p = r.behindLinks(p)
	if !r.has(p) {
		return nil, nil
	}
	content, err := r.src.Read(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p, err)
	}
	return content, nil
}

// IsManifest reports whether resolving depends on the content of a file: a manifest, or a
// configuration of a compiler.
func IsManifest(p repo.Path) bool {
	return isManifest(p.Base()) || strings.HasSuffix(string(p), ".json") // a tsconfig may extend any
}

// ManifestRules returns the part of a manifest that resolving depends on. A Go module that only
// requires other versions resolves as before.
func ManifestRules(p repo.Path, content []byte) string {
	switch p.Base() {
	case "go.mod":
		if mod, err := manifest.ParseGoModule(content); err == nil {
			return fmt.Sprintf("%q %q", mod.Path, mod.Replace)
		}
	case "go.work":
		if work, err := manifest.ParseGoWorkspace(content); err == nil {
			return fmt.Sprintf("%q %q", work.Use, work.Replace)
		}
	}
	if manifest.IsModuleConfig(p.Base()) {
		return fmt.Sprintf("%q", manifest.ParseModuleRules(p.Base(), content))
	}
	return string(content)
}

func isManifest(base string) bool {
	switch base {
	case "go.mod", "go.work",
		"package.json", "pnpm-workspace.yaml", "lerna.json",
		"pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini",
		"Cargo.toml":
		return true
	}
	return manifest.IsModuleConfig(base)
}

func (r *Resolver) addManifest(p repo.Path, content []byte) {
	switch p.Base() {
	case "go.mod":
		r.goModules.addModule(p.Dir(), content)
	case "go.work":
		r.goModules.addWorkspace(p.Dir(), content)
	case "package.json", "pnpm-workspace.yaml", "lerna.json":
		r.script.add(p, content)
	case "pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini":
		r.python.add(p, content)
	case "Cargo.toml":
		r.crates.add(p.Dir(), content)
	default:
		r.script.add(p, content)
	}
}

// isForeign reports whether a file was copied from another project by a package manager.
func isForeign(p repo.Path) bool {
	return hasSegment(p, "node_modules") || hasSegment(p, "site-packages") || hasSegment(p, "bower_components")
}

// hasSegment reports whether a directory of that name is part of a path.
func hasSegment(p repo.Path, dir string) bool {
	rest := string(p)
	for {
		i := strings.Index(rest, dir+"/")
		if i < 0 {
			return false
		}
		if i == 0 || rest[i-1] == '/' {
			return true
		}
		rest = rest[i+1:]
	}
}

func (r *Resolver) has(p repo.Path) bool {
	_, ok := r.files[p]
	return ok
}

// Edges returns the edges that leave a file, and the imports and uses that no rule settled: all of them if the file
// is a copy from another project, or in a language without rules. The error is one of the source's.
func (r *Resolver) Edges(f *ParsedFile, refs *outline.References) (Resolution, error) {
	if f == nil || refs == nil {
		return Resolution{}, nil
	}
	if isForeign(f.Path) {
		return Resolution{Open: refs.Uses, Imports: refs.Imports}, nil
	}
	e := newCollector(r, f, refs)
	e.addOwn()
	switch familyOf(f.Language) {
	case outline.Go:
		r.goEdges(e)
	case outline.TypeScript:
		r.moduleEdges(e, scriptRules{r})
	case outline.Python:
		r.moduleEdges(e, pythonRules{r})
	case outline.Rust:
		r.rustEdges(e)
	case outline.Java:
		r.javaEdges(e)
	case outline.C:
		r.cEdges(e)
	case outline.Ruby, outline.PHP, outline.CSharp, outline.Bash:
		r.namedEdges(e)
	default:
	}
	if e.err != nil {
		return Resolution{}, fmt.Errorf("uses of %s: %w", f.Path, e.err)
	}
	return e.finish(), nil
}

// CanImport reports whether a file can import a name from the TypeScript or Python file p, and the
// declaration is in a file other than not. If p may take the name from outside of the repository, it
// reports true.
func (r *Resolver) CanImport(from *ParsedFile, p repo.Path, name string, not repo.Path) (bool, error) {
	s := r.moduleScopeOf(from)
	if s == nil || !r.has(p) {
		return false, nil
	}
	offered := s.canImport(module{file: p, dir: p.Dir()}, name, not)
	return offered, s.e.err
}

// IsModule reports whether a name that a file imports from the TypeScript or Python file p is a whole module.
func (r *Resolver) IsModule(from *ParsedFile, p repo.Path, name string) bool {
	s := r.moduleScopeOf(from)
	return s != nil && s.find(module{file: p, dir: p.Dir()}, name).module != nil
}

// Imported returns the file that an import of a TypeScript or Python file names; "" if it is none of the repository.
func (r *Resolver) Imported(from *ParsedFile, module string) repo.Path {
	s := r.moduleScopeOf(from)
	if s == nil || module == "" {
		return ""
	}
	mod, _ := s.resolve(from.Path, module)
	return mod.file
}

// moduleScopeOf returns an empty scope of a TypeScript or Python file; nil for files of other languages.
func (r *Resolver) moduleScopeOf(from *ParsedFile) *moduleScope {
	if from == nil {
		return nil
	}
	e := newCollector(r, from, &outline.References{})
	switch familyOf(from.Language) {
	case outline.TypeScript:
		return &moduleScope{e: e, rules: scriptRules{r}}
	case outline.Python:
		return &moduleScope{e: e, rules: pythonRules{r}}
	default:
		return nil
	}
}

// Supports reports whether ken finds the uses of files in a language.
func Supports(lang outline.Language) bool {
	return slices.Contains(families, familyOf(lang))
}

// Family returns the family of languages of a file by its name; see Supports.
func Family(p repo.Path) outline.Language { return familyOf(outline.LanguageOf(p, nil)) }

// familyOf groups languages whose files can use each other. There is no edge from one
// family to another.
func familyOf(lang outline.Language) outline.Language {
	switch lang {
	case outline.JavaScript, outline.TSX:
		return outline.TypeScript
	case outline.CPP:
		return outline.C
	default:
		return lang
	}
}

// A memo computes a value once for each key.
type memo[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// get returns the value of a key. Two goroutines may compute it at the same time; they get
// equal values.
func (m *memo[K, V]) get(key K, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	v, ok := m.values[key]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := compute()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = make(map[K]V)
	}
	m.values[key] = v
	return v, nil
}
