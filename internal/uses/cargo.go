package uses

import (
	"strings"

	"github.com/pelletier/go-toml/v2"

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
	var doc map[string]any
	if toml.Unmarshal(content, &doc) != nil {
		return
	}
	pkg := tableAt(doc, "package")
	k.name = stringAt(pkg, "name")
	if _, ok := pkg["edition"]; !ok && pkg != nil {
		k.old = true
	}
	lib := tableAt(doc, "lib")
	if name := stringAt(lib, "name"); name != "" {
		k.name = name
	}
	k.name = strings.ReplaceAll(k.name, "-", "_")
	k.lib, _ = join(dir, "src/lib.rs")
	if p, ok := join(dir, stringAt(lib, "path")); ok && stringAt(lib, "path") != "" {
		k.lib = p
	}
	for _, kind := range []string{"bin", "test", "example", "bench"} {
		list, _ := doc[kind].([]any)
		for _, item := range list {
			table, _ := item.(map[string]any)
			if p, ok := join(dir, stringAt(table, "path")); ok && p != dir {
				k.roots[p] = true
			}
		}
	}
	k.addDeps(k.deps, doc)
	targets, _ := doc["target"].(map[string]any)
	for _, v := range targets {
		if table, ok := v.(map[string]any); ok {
			k.addDeps(k.deps, table)
		}
	}
	k.addDeps(k.workspace, tableAt(doc, "workspace"))
}

func (c *crate) addDeps(to map[string]crateDep, doc map[string]any) {
	for _, kind := range []string{"build-dependencies", "dev-dependencies", "dependencies"} {
		for name, v := range tableAt(doc, kind) {
			code := strings.ReplaceAll(name, "-", "_")
			dep := crateDep{name: code}
			if table, ok := v.(map[string]any); ok {
				dep.inherited, _ = table["workspace"].(bool)
				if rel := stringAt(table, "path"); rel != "" {
					dep.dir, dep.local = join(c.dir, rel)
				}
				if real := stringAt(table, "package"); real != "" {
					dep.name = strings.ReplaceAll(real, "-", "_")
				}
			}
			to[code] = dep
		}
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

func stringAt(table map[string]any, name string) string {
	s, _ := table[name].(string)
	return s
}
