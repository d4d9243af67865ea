package uses

import (
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// goModules has the Go modules and workspaces of a tree.
type goModules struct {
	byDir      map[repo.Path]*goModule
	byPath     map[string][]*goModule
	workspaces map[repo.Path]*goWorkspace
}

// A goModule is one go.mod.
type goModule struct {
	dir     repo.Path
	path    string // "" when go.mod is broken
	replace []goReplace
}

// A goWorkspace is one go.work.
type goWorkspace struct {
	use     []repo.Path
	replace []goReplace
}

// A goReplace is a replace directive. Only a directory inside of the repository has edges.
type goReplace struct {
	old   string // module path
	dir   repo.Path
	local bool // dir is a directory of the repository
}

func (m *goModules) addModule(dir repo.Path, content []byte) {
	mod := &goModule{dir: dir}
	if file, err := manifest.ParseGoModule(content); err == nil {
		mod.path = file.Path
		mod.replace = goReplacements(dir, file.Replace)
	}
	if m.byDir == nil {
		m.byDir = make(map[repo.Path]*goModule)
	}
	// A module with a broken go.mod still hides its directory from the module around it.
	m.byDir[dir] = mod
}

func (m *goModules) addWorkspace(dir repo.Path, content []byte) {
	w := new(goWorkspace)
	if file, err := manifest.ParseGoWorkspace(content); err == nil {
		for _, use := range file.Use {
			if p, ok := join(dir, use); ok {
				w.use = append(w.use, p)
			}
		}
		w.replace = goReplacements(dir, file.Replace)
	}
	if m.workspaces == nil {
		m.workspaces = make(map[repo.Path]*goWorkspace)
	}
	m.workspaces[dir] = w
}

func goReplacements(dir repo.Path, list []manifest.GoReplace) []goReplace {
	var out []goReplace
	for _, r := range list {
		replace := goReplace{old: r.Old}
		if r.Dir != "" {
			replace.dir, replace.local = join(dir, r.Dir)
		}
		out = append(out, replace)
	}
	return out
}

func (m *goModules) finish() {
	m.byPath = make(map[string][]*goModule)
	for _, mod := range m.byDir {
		if mod.path != "" {
			m.byPath[mod.path] = append(m.byPath[mod.path], mod)
		}
	}
}

// moduleOf returns the module that a directory belongs to.
func (m *goModules) moduleOf(dir repo.Path) *goModule {
	if len(m.byDir) == 0 {
		return nil
	}
	for d := range dir.Upward() {
		if mod, ok := m.byDir[d]; ok {
			return mod
		}
	}
	return nil
}

// workspaceOf returns the workspace that uses a module.
func (m *goModules) workspaceOf(mod *goModule) *goWorkspace {
	if len(m.workspaces) == 0 {
		return nil
	}
	for d := range mod.dir.Upward() {
		if w, ok := m.workspaces[d]; ok {
			if slices.Contains(w.use, mod.dir) {
				return w
			}
			return nil
		}
	}
	return nil
}

// goDir is the answer to which directory an import path means.
type goDir struct {
	dir       repo.Path
	found     bool
	certainty Certainty
	several   bool // modules with that path
	outside   bool // no module of the repository has it
}

// goDirOf returns the directory that an import path means in a file's module.
//
// A module that the importing one neither replaces by a directory nor shares a workspace
// with is used in a published version. The directory in this repository is only likely to
// have the same content.
func (r *Resolver) goDirOf(from repo.Path, importPath string) goDir {
	m := &r.goModules
	own := m.moduleOf(from.Dir())
	if own == nil || importPath == "C" {
		return goDir{outside: importPath == "C"}
	}
	if dir, ok := r.goDirIn(own, own.path, importPath); ok {
		return goDir{dir: dir, found: true, certainty: Exact}
	}
	w := m.workspaceOf(own)
	replaces := own.replace
	if w != nil {
		for _, use := range w.use {
			if mod := m.byDir[use]; mod != nil && mod != own {
				if dir, ok := r.goDirIn(mod, mod.path, importPath); ok {
					return goDir{dir: dir, found: true, certainty: Exact}
				}
			}
		}
		replaces = slices.Concat(w.replace, own.replace)
	}
	best := -1
	for i, rep := range replaces {
		if _, ok := goRest(rep.old, importPath); ok && (best < 0 || len(rep.old) > len(replaces[best].old)) {
			best = i
		}
	}
	if best >= 0 {
		rep := replaces[best]
		mod := m.byDir[rep.dir]
		if !rep.local || mod == nil {
			return goDir{outside: !rep.local}
		}
		dir, ok := r.goDirIn(mod, rep.old, importPath)
		return goDir{dir: dir, found: ok, certainty: Exact}
	}
	return r.goUnrelated(own, importPath)
}

// goUnrelated looks for an import path in modules of the tree that the importing module
// does not replace.
func (r *Resolver) goUnrelated(own *goModule, importPath string) goDir {
	for prefix := importPath; prefix != ""; {
		var dirs []repo.Path
		for _, mod := range r.goModules.byPath[prefix] {
			if dir, ok := r.goDirIn(mod, mod.path, importPath); ok && mod != own {
				dirs = append(dirs, dir)
			}
		}
		switch len(dirs) {
		case 0:
		case 1:
			return goDir{dir: dirs[0], found: true, certainty: Likely}
		default:
			return goDir{several: true}
		}
		i := strings.LastIndexByte(prefix, '/')
		prefix = prefix[:max(i, 0)]
	}
	return goDir{outside: own.path != ""}
}

// goDirIn returns the directory of an import path in a module that is known by a path. A
// directory of a module inside of it is not part of it, nor is one below vendor.
func (r *Resolver) goDirIn(mod *goModule, modulePath, importPath string) (repo.Path, bool) {
	rest, ok := goRest(modulePath, importPath)
	if !ok {
		return "", false
	}
	dir := under(mod.dir, rest)
	if hasSegment(under(repo.Path(rest), "x"), "vendor") || r.goModules.moduleOf(dir) != mod || !r.hasGo(dir) {
		return "", false
	}
	return dir, true
}

// goRest returns the part of an import path after the path of a module.
func goRest(modulePath, importPath string) (string, bool) {
	if modulePath == "" {
		return "", false
	}
	rest, ok := strings.CutPrefix(importPath, modulePath)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

func (r *Resolver) hasGo(dir repo.Path) bool {
	return slices.ContainsFunc(r.dirs[dir], func(p repo.Path) bool { return strings.HasSuffix(string(p), ".go") })
}
