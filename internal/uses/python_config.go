package uses

import (
	"slices"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// pythonConfigs has the source roots that Python manifests name.
type pythonConfigs struct {
	projects []repo.Path               // directories with a manifest
	extra    map[repo.Path][]repo.Path // roots that a directory's manifests name
}

// add reads a manifest of a directory.
func (c *pythonConfigs) add(p repo.Path, content []byte) {
	dir := p.Dir()
	roots, isProject := manifest.PythonRoots(p.Base(), content)
	if isProject && !slices.Contains(c.projects, dir) {
		c.projects = append(c.projects, dir)
	}
	for _, rel := range roots {
		root, ok := join(dir, rel)
		if rel == "" || !ok || slices.Contains(c.extra[dir], root) {
			continue
		}
		if c.extra == nil {
			c.extra = make(map[repo.Path][]repo.Path)
		}
		c.extra[dir] = append(c.extra[dir], root)
	}
}

func (r *Resolver) readPyProjectRoots() []repo.Path {
	var roots []repo.Path
	for _, dir := range r.python.projects {
		if isFixture(dir) {
			continue
		}
		roots = append(roots, dir)
		if src := under(dir, "src"); !r.isPackage(src) {
			roots = append(roots, src)
		}
		roots = append(roots, r.python.extra[dir]...)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
