package docs

import (
	"path"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A treeIndex finds tracked files and directories by name.
type treeIndex struct {
	files  map[string]repo.File
	dirs   map[string]bool     // "" is the root
	byBase map[string][]string // files and directories by their last element
	stems  map[string]bool     // files without their last extension
	exts   map[string]bool     // of files

	globs globs
}

func newTreeIndex(files []repo.File) *treeIndex {
	c := &treeIndex{
		files:  make(map[string]repo.File, len(files)),
		dirs:   map[string]bool{"": true},
		byBase: make(map[string][]string, len(files)),
		stems:  make(map[string]bool, len(files)),
		exts:   make(map[string]bool),
	}
	for _, f := range files {
		p := string(f.Path)
		c.files[p] = f
		c.byBase[path.Base(p)] = append(c.byBase[path.Base(p)], p)
		if ext := path.Ext(p); ext != "" {
			c.stems[strings.TrimSuffix(p, ext)] = true
			c.exts[ext] = true
		}
		for dir := parent(p); dir != "" && !c.dirs[dir]; dir = parent(dir) {
			c.dirs[dir] = true
			c.byBase[path.Base(dir)] = append(c.byBase[path.Base(dir)], dir)
		}
	}
	c.globs = globs{tree: c, tried: make(map[string]bool), budget: maxMatched}
	return c
}

func parent(p string) string { return string(repo.Path(p).Dir()) }

// has reports whether a path is a tracked file or directory.
func (t *treeIndex) has(p string) bool {
	_, ok := t.files[p]
	return ok || t.dirs[p]
}

// behind reports whether a path goes through an entry of this mode, a link or a submodule. Git does not track
// paths inside it.
func (t *treeIndex) behind(p string, mode repo.Mode) bool {
	for dir := parent(p); dir != ""; dir = parent(dir) {
		if f, ok := t.files[dir]; ok && f.Mode == mode {
			return true
		}
	}
	return false
}

// ends reports whether a tracked path ends in the elements of a name.
func (t *treeIndex) ends(name string) bool {
	for _, p := range t.byBase[path.Base(name)] {
		if p == name || strings.HasSuffix(p, "/"+name) {
			return true
		}
	}
	return false
}

// hasSource reports whether the tree has the source of a name under another extension: the source of a page, a
// module without its extension, or the source of a compiled file.
func (t *treeIndex) hasSource(p string, form mention.Form) bool {
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	switch ext {
	case "":
		return t.stems[p] || t.stems[p+"/index"] || t.stems[p+"/README"]
	case ".html", ".htm":
		return t.stems[stem] || t.stems[stem+"/index"]
	case ".js", ".jsx", ".mjs", ".cjs":
		return form != mention.Link && t.anyOf(stem, ".ts", ".tsx", ".mts", ".cts", ".jsx")
	}
	return false
}

// inLanguage reports whether the tree has a page in the language of the document, with the same suffix in its
// name: in guide-js.md or guide.de.md, a link to page.md leads to page-js.md or page.de.md.
func (t *treeIndex) inLanguage(doc repo.Path, p string) bool {
	base := strings.TrimSuffix(doc.Base(), path.Ext(doc.Base()))
	i := strings.LastIndexAny(base, "-._")
	ext := path.Ext(p)
	if i <= 0 || !mention.IsMarkdown(repo.Path(p)) || !languages[strings.ToLower(base[i+1:])] {
		return false
	}
	_, ok := t.files[strings.TrimSuffix(p, ext)+base[i:]+ext]
	return ok
}

var languages = setOf(strings.Fields("js ts py python java csharp go rust ruby php kotlin swift en de fr es it pt ru uk pl tr ar ja jp ko zh cn tw"))

// page returns the file that a link leads to. A link on a site may omit the extension of a page and the name of an
// index. A leading slash means the top of the site, which is a directory above the document.
func (t *treeIndex) page(doc repo.Path, name string) (repo.Path, bool) {
	rooted, fromTop := strings.CutPrefix(name, "/")
	for dir := range doc.Dir().Upward() {
		p := path.Join(string(dir), rooted)
		if _, ok := t.files[p]; ok {
			return repo.Path(p), true
		}
		if ext := path.Ext(p); ext == "" || ext == ".html" {
			stem := strings.TrimSuffix(p, ".html")
			for _, end := range []string{".md", ".mdx", "/index.md", "/index.mdx", "/README.md"} {
				if _, ok := t.files[stem+end]; ok {
					return repo.Path(stem + end), true
				}
			}
		}
		if !fromTop {
			break
		}
	}
	return "", false
}

func (t *treeIndex) anyOf(stem string, exts ...string) bool {
	for _, ext := range exts {
		if _, ok := t.files[stem+ext]; ok {
			return true
		}
	}
	return false
}

// mayHave reports whether a module that code imports may be of the repository: a directory or file has the first or
// the last part of its name.
func (t *treeIndex) mayHave(module string) bool {
	parts := strings.FieldsFunc(module, func(r rune) bool { return strings.ContainsRune("./:@", r) })
	if len(parts) == 0 || strings.HasPrefix(module, ".") {
		return true
	}
	for _, name := range []string{parts[0], parts[len(parts)-1]} {
		for _, spelled := range []string{name, strings.ReplaceAll(name, "_", "-")} {
			if len(t.byBase[spelled]) > 0 || t.stems[spelled] {
				return true
			}
		}
	}
	return false
}

// possiblePaths returns the paths that a name in a document may mean: relative to the directory of the document, to
// the root, and to each directory between them. A leading slash means the root. If strict is set, a bare name is
// not searched for in between: too many files have the same name. The most literal path is first.
func possiblePaths(doc repo.Path, m *mention.Mention, strict bool) (paths []string) {
	add := func(parts ...string) {
		p := path.Join(parts...)
		if p != "" && p != "." && p != ".." && !strings.HasPrefix(p, "../") && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	if rooted, ok := strings.CutPrefix(m.Name, "/"); ok {
		add(rooted)
		return paths
	}
	if IsOutside(doc) {
		doc = "" // its paths are those of the repository
	}
	bare := strict && !strings.Contains(m.Name, "/")
	for dir := range doc.Dir().Upward() {
		if m.In != "" {
			add(string(dir), m.In, m.Name)
		}
		if !bare || dir == "" || dir == doc.Dir() {
			add(string(dir), m.Name)
		}
	}
	return paths
}

// holdsPath reports whether a path in a document exists, as far as the tracked files show.
func (t *treeIndex) holdsPath(m *mention.Mention, paths []string) bool {
	name := strings.TrimPrefix(path.Clean("/"+m.Name), "/")
	for _, p := range paths {
		switch {
		case t.has(p) || t.behind(p, repo.Symlink) || t.hasSource(p, m.Form) || t.inLanguage(m.File, p):
			return true
		case m.Glob && t.globs.match(p):
			return true
		}
	}
	if m.Glob {
		return t.globs.match("**/" + name) // it may be shortened like any other path
	}
	return name == "" || !strings.HasPrefix(m.Name, "../") && t.ends(name)
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}
