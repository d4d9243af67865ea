package project

import (
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// maxEntrypoints is how many entry points are listed.
const maxEntrypoints = 20

// Entrypoints returns the files below a directory in which programs start: main packages of Go, bin of package.json,
// console scripts of Python, programs of Cargo packages. A JavaScript, Python or Rust package without a program has the file that
// its users import. Those of examples and tools come last.
func (p *Project) Entrypoints(dir repo.Path) []repo.Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isDir(dir) {
		return nil
	}
	var list []repo.Path
	add := func(f repo.Path) {
		if f != "" && p.has(f) && f.Under(dir) && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	mains := p.goMainFiles(dir)
	for _, f := range p.mainPackages(mains[:min(len(mains), 3*maxEntrypoints)]) {
		add(f)
	}
	for _, d := range p.manifestDirs(dir) {
		bins := p.cargoBins(d)
		for _, bin := range bins {
			add(bin.file)
		}
		if len(bins) == 0 && p.has(join(d, "Cargo.toml")) {
			add(join(d, "src/lib.rs"))
		}
		if pkg := p.nodePackage(d); pkg != nil {
			for _, f := range p.nodeBins(pkg) {
				add(f)
			}
		}
		scripts := p.consoleScripts(d)
		for _, script := range scripts {
			add(p.pythonModule(d, script.target))
		}
		if len(scripts) == 0 {
			add(p.pythonPackage(d))
		}
		add(p.firstFile(d, "manage.py"))
	}
	for _, f := range p.filesUnder(dir, len(p.files)) {
		if f.Base() == "__main__.py" && !isForeign(f) {
			add(f)
		}
	}
	slices.SortStableFunc(list, func(a, b repo.Path) int { return mainRank(a) - mainRank(b) })
	return list[:min(len(list), maxEntrypoints)]
}

// manifestDirs returns the directories with manifests at or below a directory, and the nearest one above it, sorted.
func (p *Project) manifestDirs(dir repo.Path) []repo.Path {
	var dirs []repo.Path
	for d := range p.manifests {
		if d.Under(dir) && !isForeign(d) {
			dirs = append(dirs, d)
		}
	}
	for d := range dir.Upward() {
		if len(p.manifests[d]) > 0 && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
			break
		}
	}
	slices.Sort(dirs)
	return dirs
}

// nodeBins returns the tracked files of a package's bin field. It returns the source of a built file.
func (p *Project) nodeBins(pkg *nodePackage) []repo.Path {
	targets := pkg.doc.Texts("bin")
	for _, name := range keysOf(pkg.doc.Document, "bin") {
		targets = append(targets, pkg.doc.Text("bin", name))
	}
	if len(targets) == 0 {
		exported := pkg.doc.At("exports", ".")
		targets = append(pkg.doc.Texts("exports", "."), exported.Text("import"), exported.Text("import", "default"), exported.Text("default"),
			pkg.doc.Text("module"), pkg.doc.Text("main"))
	}
	var list []repo.Path
	for _, t := range targets {
		if t != "" {
			list = append(list, p.builtFrom(pkg.dir, t))
		}
	}
	return list
}

// builtFrom returns the tracked source of a built JavaScript file, or the file itself if it is tracked, or "".
func (p *Project) builtFrom(dir repo.Path, built string) repo.Path {
	file := join(dir, built)
	if file == "" || p.has(file) {
		return file
	}
	rel := path.Clean(built)
	for _, out := range []string{"dist/", "lib/", "build/", "out/"} {
		rest, ok := strings.CutPrefix(rel, out)
		if !ok {
			continue
		}
		for _, sub := range []string{"cjs/", "esm/", "src/", ""} {
			stem := strings.TrimPrefix(rest, sub)
			stem = strings.TrimSuffix(stem, path.Ext(stem))
			for _, ext := range []string{".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs"} {
				if f := join(dir, "src/"+stem+ext); p.has(f) {
					return f
				}
			}
		}
	}
	return ""
}

// pythonPackage returns the file that users of the Python package of a directory import, "" if it has none.
func (p *Project) pythonPackage(dir repo.Path) repo.Path {
	doc := p.document(p.firstFile(dir, "pyproject.toml"))
	name := doc.Text("project", "name")
	if name == "" {
		name = doc.Text("tool", "poetry", "name")
	}
	name = strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
	if !isVariable(name) {
		return ""
	}
	return p.firstFile(dir, "src/"+name+"/__init__.py", name+"/__init__.py")
}

// pythonModule returns the file of an entry point such as package.module:function.
func (p *Project) pythonModule(dir repo.Path, target string) repo.Path {
	module, _, _ := strings.Cut(strings.TrimSpace(target), ":")
	rel := strings.ReplaceAll(strings.TrimSpace(module), ".", "/")
	if rel == "" {
		return ""
	}
	for _, root := range []string{"", "src/", "lib/"} {
		for _, end := range []string{".py", "/__main__.py", "/__init__.py"} {
			if f := join(dir, root+rel+end); f != "" && p.has(f) {
				return f
			}
		}
	}
	return ""
}
