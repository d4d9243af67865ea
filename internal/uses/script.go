package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// scriptRules finds modules as TypeScript and Node do.
type scriptRules struct{ r *Resolver }

func (scriptRules) submodule(module, string) (module, bool) { return module{}, false }

func (scriptRules) reexports(im *outline.Import) bool { return im.Reexport }

func (scriptRules) sharesGlobals() bool { return true }

func (scriptRules) inStar(*fileFacts, string) bool { return true }

func (scriptRules) exported(d *decl) bool {
	return d.exported || d.name == "default" || d.name == "module.exports"
}

// resolve returns the file that a module specifier means. A path counts only if the file is
// tracked, so an alias that matches too much does not hide a package.
func (s scriptRules) resolve(e *collector, from repo.Path, spec string) (module, state) {
	r := s.r
	spec, _, _ = strings.Cut(spec, "?") // a bundler's query
	if strings.Contains(spec, "://") {
		return module{}, outside
	}
	if spec == "" || strings.HasPrefix(spec, "/") {
		return module{}, unresolved
	}
	if isRelative(spec) {
		p, ok := join(from.Dir(), spec)
		if !ok {
			return module{}, outside
		}
		return scriptModule(r.scriptFile(p, strings.HasSuffix(spec, "/") || strings.HasSuffix(spec, ".")))
	}
	if strings.HasPrefix(spec, "#") {
		if mod, ok := r.packageImport(from, spec); ok {
			return mod, inside
		}
	}
	if isNodeBuiltin(spec) {
		return module{}, outside
	}
	found, err := r.byTSConfig(from, spec)
	if err != nil {
		e.fail(err)
		return module{}, unknown
	}
	if found != "" {
		return scriptModule(found, true)
	}
	if found, ok := r.byModuleRules(from, spec); ok {
		return scriptModule(found, true)
	}
	return r.workspacePackage(from, spec)
}

func scriptModule(p repo.Path, ok bool) (module, state) {
	if !ok {
		return module{}, unresolved
	}
	return module{file: p, certainty: Exact}, inside
}

func isRelative(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
}

// scriptExts has the extensions that may be left out, in the order in which TypeScript tries them.
var scriptExts = []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".d.cts", ".vue", ".svelte", ".json"}

// writtenFor has the extensions of sources that an import of a compiled file may mean, best first.
var writtenFor = map[string][]string{
	".js":  {".ts", ".tsx", ".js", ".jsx", ".d.ts"},
	".jsx": {".tsx", ".jsx", ".d.ts"},
	".mjs": {".mts", ".mjs", ".d.mts"},
	".cjs": {".cts", ".cjs", ".d.cts"},
}

// scriptFile returns the file that a path means, which may lack its extension or name a
// directory.
func (r *Resolver) scriptFile(p repo.Path, dirOnly bool) (repo.Path, bool) {
	p = r.behindLinks(p)
	if !dirOnly {
		if found, ok := r.scriptPlain(p); ok {
			return found, true
		}
	}
	if pkg := r.script.packages[p]; pkg != nil {
		if mod, ok := r.packageMain(pkg); ok && mod.certainty == Exact {
			return mod.file, true
		}
	}
	return r.scriptIndex(p)
}

// scriptIndex returns the file that an import of a directory means.
func (r *Resolver) scriptIndex(dir repo.Path) (repo.Path, bool) {
	for _, ext := range scriptExts {
		if q := under(dir, "index"+ext); r.has(q) {
			return q, true
		}
	}
	return "", false
}

// scriptPlain is scriptFile without directories.
func (r *Resolver) scriptPlain(p repo.Path) (repo.Path, bool) {
	base := p.Base()
	if dot := strings.LastIndexByte(base, '.'); dot > 0 {
		stem := p[:len(p)-len(base)+dot]
		for _, ext := range writtenFor[base[dot:]] {
			if q := stem + repo.Path(ext); r.has(q) {
				return q, true
			}
		}
		if r.has(p) {
			return p, true
		}
	}
	for _, ext := range scriptExts {
		if q := p + repo.Path(ext); r.has(q) {
			return q, true
		}
	}
	return "", false
}

func isNodeBuiltin(spec string) bool {
	name, rest, sub := strings.Cut(spec, "/")
	if strings.HasPrefix(spec, "node:") || strings.HasPrefix(spec, "bun:") || strings.HasPrefix(spec, "npm:") || strings.HasPrefix(spec, "jsr:") {
		return true
	}
	return nodeBuiltins()[name] && (!sub || rest == "promises" || rest == "web" || rest == "posix" || rest == "win32" || rest == "types" || rest == "strict")
}

var nodeBuiltins = set(`assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
	events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
	string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib`)

// workspacePackage resolves the name of a package of the same workspace, or one that the
// importing package takes from a directory.
func (r *Resolver) workspacePackage(from repo.Path, spec string) (module, state) {
	name, sub := packageName(spec)
	if name == "" {
		return module{}, unresolved
	}
	own := r.script.packageOf(from.Dir())
	candidates := r.script.candidates(own, from.Dir(), name)
	switch len(candidates) {
	case 0:
		if r.script.requires(from.Dir(), name) {
			return module{}, outside
		}
		return module{}, unresolved
	case 1:
	default:
		return module{}, several
	}
	if mod, ok := r.packageEntry(candidates[0], sub); ok {
		return mod, inside
	}
	return module{}, unresolved
}

// packageName splits @scope/name/sub/path into the package and the rest.
func packageName(spec string) (name, sub string) {
	parts := strings.SplitN(spec, "/", 3)
	n := 1
	if strings.HasPrefix(spec, "@") {
		n = 2
	}
	if len(parts) < n || parts[n-1] == "" {
		return "", ""
	}
	name = strings.Join(parts[:n], "/")
	return name, strings.TrimPrefix(strings.TrimPrefix(spec, name), "/")
}

// packageEntry returns the module that a package gives for a subpath, "" for the package
// itself.
func (r *Resolver) packageEntry(pkg *scriptPackage, sub string) (module, bool) {
	if pkg.exports != nil {
		key := "."
		if sub != "" {
			key = "./" + sub
		}
		if mod, ok := r.moduleBehind(pkg, exportTargets(pkg.exports, key)); ok || sub != "" {
			return mod, ok
		}
		return r.usualEntry(pkg)
	}
	if sub == "" {
		return r.packageMain(pkg)
	}
	return r.moduleBehind(pkg, []string{sub})
}

// packageMain returns the module that a package without exports gives.
func (r *Resolver) packageMain(pkg *scriptPackage) (module, bool) {
	if mod, ok := r.moduleBehind(pkg, []string{pkg.source, pkg.module, pkg.main}); ok {
		return mod, true
	}
	return r.usualEntry(pkg)
}

// usualEntry returns the module where the code of a package begins by convention, for one
// whose compiled entry is not tracked.
func (r *Resolver) usualEntry(pkg *scriptPackage) (module, bool) {
	names := pkg.exports != nil || pkg.source+pkg.module+pkg.main != ""
	for _, stem := range []string{"index", "src/index"} {
		for _, ext := range scriptExts {
			p := under(pkg.dir, stem+ext)
			if !r.has(p) {
				continue
			}
			if names || stem != "index" {
				return module{file: p, certainty: Likely}, true
			}
			return module{file: p, certainty: Exact}, true
		}
	}
	return module{}, false
}

// moduleBehind returns the module that one of the targets of a package.json means, best first. A target is often a
// compiled file that is not tracked: then the module is its source, exact if a configuration says where that is, and
// likely if it is only where sources usually are.
func (r *Resolver) moduleBehind(pkg *scriptPackage, targets []string) (module, bool) {
	var paths []repo.Path
	for _, t := range targets {
		p, ok := join(pkg.dir, t)
		isTypes := strings.HasSuffix(t, ".d.ts") || strings.HasSuffix(t, ".d.mts") || strings.HasSuffix(t, ".d.cts")
		if ok && t != "" && p.Under(pkg.dir) && !isTypes {
			paths = append(paths, p)
		}
	}
	for _, p := range paths {
		if p != pkg.dir && r.has(p) {
			return module{file: p, certainty: Exact}, true
		}
		if found, ok := r.scriptPlain(p); ok {
			return module{file: found, certainty: Exact}, true
		}
		if found, ok := r.scriptIndex(p); ok {
			return module{file: found, certainty: Exact}, true
		}
	}
	for _, p := range paths {
		for _, o := range r.outputsOf(pkg) {
			if !p.Under(o.out) || p.Under(o.root) {
				continue
			}
			rest := strings.TrimPrefix(string(p[len(o.out):]), "/")
			if found, ok := r.scriptSource(under(o.root, rest)); ok {
				return module{file: found, certainty: Exact}, true
			}
		}
	}
	for _, p := range paths {
		if found, ok := r.usualSource(pkg.dir, p); ok {
			return module{file: found, certainty: Likely}, true
		}
	}
	return module{}, false
}

// An output is a directory that a compiler fills, and the directory of its sources.
type output struct{ out, root repo.Path }

// outputsOf returns the outputs of a package that its tsconfigs and SvelteKit's packager name.
func (r *Resolver) outputsOf(pkg *scriptPackage) []output {
	list, err := r.outputs.get(pkg.dir, func() (list []output, err error) {
		for _, p := range r.dirs[pkg.dir] {
			if base := p.Base(); !strings.HasPrefix(base, "tsconfig") || !strings.HasSuffix(base, ".json") {
				continue
			}
			c, err := r.tsconfigAt(p)
			if err != nil {
				return nil, err
			}
			if c.outDir != "" && c.rootDir != c.outDir && c.hasRootDir {
				list = append(list, output{c.outDir, c.rootDir})
			}
		}
		if pkg.packsSvelte {
			for _, rules := range r.script.rules[pkg.dir] {
				if lib, ok := join(pkg.dir, rules.Library); ok && rules.Library != "" {
					list = append(list, output{under(pkg.dir, "dist"), lib})
				}
			}
		}
		return list, nil
	})
	if err != nil {
		return nil // a tsconfig that cannot be read proves nothing
	}
	return list
}

var (
	outputDirs = set("dist lib build out output es esm cjs umd built compiled types module dist-es dist-cjs dist-node")
	formatDirs = set("es esm cjs umd mjs module commonjs node browser esnext es6 es2015 es2019 es2020 es2022 import require default")
)

// usualSource returns the tracked file that a compiled file is usually made from: beside its directory, or in src.
func (r *Resolver) usualSource(dir, p repo.Path) (repo.Path, bool) {
	rel := strings.Split(strings.TrimPrefix(strings.TrimPrefix(string(p), string(dir)), "/"), "/")
	if len(rel) < 2 || !outputDirs()[rel[0]] {
		return "", false
	}
	for cut := 1; cut < len(rel); cut++ {
		if cut > 1 && !formatDirs()[rel[cut-1]] && !outputDirs()[rel[cut-1]] {
			break
		}
		rest := strings.Join(rel[cut:], "/")
		rest = strings.Replace(rest, ".min.", ".", 1)
		for _, base := range []string{"src/", "source/", ""} {
			q := under(dir, base+rest)
			if found, ok := r.scriptSource(q); ok {
				return found, true
			}
		}
	}
	return "", false
}

// scriptSource finds the source of a compiled file, for any form of its output: a
// source a.ts may become a.mjs and a.cjs.
func (r *Resolver) scriptSource(p repo.Path) (repo.Path, bool) {
	if found, ok := r.scriptFile(p, false); ok {
		return found, true
	}
	base := p.Base()
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 || writtenFor[base[dot:]] == nil {
		return "", false
	}
	stem := p[:len(p)-len(base)+dot]
	for _, ext := range []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"} {
		if q := stem + repo.Path(ext); r.has(q) {
			return q, true
		}
	}
	return r.scriptFile(stem, true)
}

// packageImport resolves #name through the imports of the nearest package.json.
func (r *Resolver) packageImport(from repo.Path, spec string) (module, bool) {
	pkg := r.script.packageOf(from.Dir())
	if pkg == nil || pkg.imports == nil {
		return module{}, false
	}
	return r.moduleBehind(pkg, exportTargets(pkg.imports, spec))
}

// exportTargets returns the targets of a subpath in a map of exports or imports, best
// first. The condition "types" is left out: it names declarations, not code.
func exportTargets(exports any, key string) []string {
	m, isMap := exports.(map[string]any)
	if !isMap || !hasSubpaths(m) {
		if key != "." {
			return nil
		}
		return conditionTargets(exports, "")
	}
	if v, ok := m[key]; ok {
		return conditionTargets(v, "")
	}
	best, star := "", ""
	for pattern := range m {
		prefix, suffix, ok := strings.Cut(pattern, "*")
		if !ok && strings.HasSuffix(pattern, "/") {
			prefix, suffix, ok = pattern, "", true
		}
		if !ok || len(key) < len(prefix)+len(suffix) || !strings.HasPrefix(key, prefix) || !strings.HasSuffix(key, suffix) {
			continue
		}
		if best == "" || len(prefix) > strings.IndexByte(best+"*", '*') || len(prefix) == strings.IndexByte(best+"*", '*') && len(pattern) > len(best) {
			best, star = pattern, key[len(prefix):len(key)-len(suffix)]
		}
	}
	if best == "" {
		return nil
	}
	list := conditionTargets(m[best], star)
	if !strings.Contains(best, "*") {
		for i := range list {
			list[i] += star
		}
	}
	return list
}

// hasSubpaths reports whether the keys of an object are subpaths and not conditions.
func hasSubpaths(m map[string]any) bool {
	for k := range m {
		return strings.HasPrefix(k, ".") || strings.HasPrefix(k, "#")
	}
	return false
}

// conditionTargets returns the paths in a value of exports, those of conditions that name
// sources first.
func conditionTargets(v any, star string) []string {
	switch v := v.(type) {
	case string:
		if !strings.HasPrefix(v, ".") {
			return nil // another package
		}
		return []string{strings.ReplaceAll(v, "*", star)}
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, conditionTargets(item, star)...)
		}
		return list
	case map[string]any:
		var keys []string
		for k := range v {
			if k != "types" && k != "typings" && !strings.HasPrefix(k, "types@") {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, func(a, b string) int {
			if d := conditionRank(a) - conditionRank(b); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		var list []string
		for _, k := range keys {
			list = append(list, conditionTargets(v[k], star)...)
		}
		return list
	}
	return nil
}

// conditionRank orders conditions: sources, then those of bundlers, then the rest.
func conditionRank(condition string) int {
	switch condition {
	case "source", "src", "ts", "typescript", "development", "dev", "@source":
		return 0
	case "import":
		return 2
	case "module", "default", "node":
		return 3
	case "require":
		return 4
	case "browser", "deno", "bun", "worker", "workerd", "edge-light", "react-native", "production":
		return 5
	}
	if strings.Contains(condition, "source") || strings.Contains(condition, "src") || strings.Contains(condition, "dev") {
		return 1
	}
	return 5
}
