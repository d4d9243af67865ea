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
		if found, ok := r.packageImport(from, spec); ok {
			return scriptModule(found, true)
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
	if !dirOnly {
		if found, ok := r.scriptPlain(p); ok {
			return found, true
		}
	}
	if pkg := r.script.packages[p]; pkg != nil {
		if found, ok := r.packageMain(pkg); ok {
			return found, true
		}
	}
	for _, ext := range scriptExts {
		if q := under(p, "index"+ext); r.has(q) {
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
	return scriptModule(r.packageEntry(candidates[0], sub))
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

// packageEntry returns the file that a package gives for a subpath, "" for the package
// itself.
func (r *Resolver) packageEntry(pkg *scriptPackage, sub string) (repo.Path, bool) {
	if pkg.exports != nil {
		key := "."
		if sub != "" {
			key = "./" + sub
		}
		for _, t := range exportTargets(pkg.exports, key) {
			if found, ok := r.sourceOf(pkg.dir, t); ok {
				return found, true
			}
		}
		if sub == "" {
			return r.usualEntry(pkg)
		}
		return "", false
	}
	if sub == "" {
		return r.packageMain(pkg)
	}
	if p, ok := join(pkg.dir, sub); ok {
		if found, ok := r.scriptFile(p, false); ok {
			return found, true
		}
	}
	return r.sourceOf(pkg.dir, sub)
}

// packageMain returns the file that a package without exports gives.
func (r *Resolver) packageMain(pkg *scriptPackage) (repo.Path, bool) {
	for _, t := range []string{pkg.source, pkg.module, pkg.main} {
		if t == "" {
			continue
		}
		if found, ok := r.sourceOf(pkg.dir, t); ok {
			return found, true
		}
	}
	return r.usualEntry(pkg)
}

// usualEntry returns the file where the code of a package begins by convention, for one
// whose compiled entry is not tracked.
func (r *Resolver) usualEntry(pkg *scriptPackage) (repo.Path, bool) {
	for _, stem := range []string{"index", "src/index"} {
		for _, ext := range scriptExts {
			if p := under(pkg.dir, stem+ext); r.has(p) {
				return p, true
			}
		}
	}
	return "", false
}

var (
	outputDirs = set("dist lib build out output es esm cjs umd built compiled types module dist-es dist-cjs dist-node")
	formatDirs = set("es esm cjs umd mjs module commonjs node browser esnext es6 es2015 es2019 es2020 es2022 import require default")
)

// sourceOf returns the tracked file behind a target of package.json. The target is often a
// compiled file that is not tracked; its source is beside it or in src.
func (r *Resolver) sourceOf(dir repo.Path, t string) (repo.Path, bool) {
	p, ok := join(dir, t)
	if !ok || !p.Under(dir) {
		return "", false
	}
	if strings.HasSuffix(t, ".d.ts") || strings.HasSuffix(t, ".d.mts") || strings.HasSuffix(t, ".d.cts") {
		return "", false // types only
	}
	if r.has(p) {
		return p, true
	}
	if found, ok := r.scriptFile(p, false); ok {
		return found, true
	}
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
func (r *Resolver) packageImport(from repo.Path, spec string) (repo.Path, bool) {
	pkg := r.script.packageOf(from.Dir())
	if pkg == nil || pkg.imports == nil {
		return "", false
	}
	for _, t := range exportTargets(pkg.imports, spec) {
		if found, ok := r.sourceOf(pkg.dir, t); ok {
			return found, true
		}
	}
	return "", false
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
