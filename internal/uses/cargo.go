package uses

import (
	"cmp"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// crates has the Rust packages of a tree.
type crates struct {
	byDir map[repo.Path]*crate
}

// A crate is one Cargo.toml.
type crate struct {
	dir       repo.Path
	name      string // as code spells it, with underscores; "" for a workspace without a package
	lib       repo.Path
	roots     map[repo.Path]bool // files that begin a module tree: the library, programs, tests, examples
	deps      map[string]crateDep
	workspace map[string]crateDep // dependencies that members inherit
	old       bool                // edition 2015: the paths of use begin at the root
}

// A crateDep is a dependency under the name that code uses.
type crateDep struct {
	local     bool // it comes from a directory
	dir       repo.Path
	inherited bool   // from the workspace
	name      string // of the package, as code spells it
}

func (c *crates) add(dir repo.Path, content []byte) {
	k := &crate{dir: dir, deps: make(map[string]crateDep), workspace: make(map[string]crateDep), roots: make(map[repo.Path]bool)}
	if c.byDir == nil {
		c.byDir = make(map[repo.Path]*crate)
	}
	c.byDir[dir] = k
	doc, err := manifest.Parse("Cargo.toml", content)
	if err != nil {
		return
	}
	file := manifest.Cargo{Document: doc}
	lib, libName := file.Library()
	k.name = strings.ReplaceAll(cmp.Or(libName, file.Name()), "-", "_")
	k.old = file.Is2015()
	k.lib, _ = join(dir, lib)
	for _, kind := range []string{"bin", "test", "example", "bench"} {
		for _, target := range file.Targets(kind) {
			if p, ok := join(dir, target.Path); ok && p != dir {
				k.roots[p] = true
			}
		}
	}
	k.addDeps(k.deps, file.Dependencies())
	k.addDeps(k.workspace, file.WorkspaceDependencies())
}

func (c *crate) addDeps(to map[string]crateDep, deps map[string]manifest.CargoDependency) {
	for name, d := range deps {
		dep := crateDep{inherited: d.Inherited, name: strings.ReplaceAll(cmp.Or(d.Package, name), "-", "_")}
		if d.Path != "" {
			dep.dir, dep.local = join(c.dir, d.Path)
		}
		to[strings.ReplaceAll(name, "-", "_")] = dep
	}
}

// finish adds the roots that Cargo finds by itself.
func (c *crates) finish(r *Resolver) {
	for dir, k := range c.byDir {
		if r.has(k.lib) {
			k.roots[k.lib] = true
		} else {
			k.lib = ""
		}
		for _, name := range []string{"src/main.rs", "build.rs"} {
			if p := under(dir, name); r.has(p) {
				k.roots[p] = true
			}
		}
		for _, name := range []string{"src/bin", "tests", "examples", "benches"} {
			for _, p := range r.dirs[under(dir, name)] {
				if strings.HasSuffix(string(p), ".rs") {
					k.roots[p] = true
				}
			}
		}
	}
}

// crateOf returns the package that a directory belongs to.
func (c *crates) crateOf(dir repo.Path) *crate {
	if len(c.byDir) == 0 {
		return nil
	}
	for d := range dir.Upward() {
		if k := c.byDir[d]; k != nil && k.name != "" {
			return k
		}
	}
	return nil
}

// dependency returns the package of the tree that a crate's name means in a package, and
// how certain that is: a package that comes from a registry is only likely to be the one of
// that name in the tree.
func (c *crates) dependency(k *crate, name string) (*crate, Certainty) {
	dep, ok := k.deps[name]
	if !ok {
		return nil, ""
	}
	if dep.inherited {
		for d := range k.dir.Upward() {
			if w := c.byDir[d]; w != nil && len(w.workspace) > 0 {
				if from, ok := w.workspace[name]; ok {
					dep = from
				}
				break
			}
		}
	}
	if dep.local {
		return c.byDir[dep.dir], Exact
	}
	var found []*crate
	for _, other := range c.byDir {
		if other.name == dep.name && other.lib != "" && other != k {
			found = append(found, other)
		}
	}
	if len(found) != 1 {
		return nil, ""
	}
	return found[0], Likely
}
