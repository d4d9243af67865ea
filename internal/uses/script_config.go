package uses

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/manifest"
	"ken/internal/outline"
	"ken/internal/repo"

	"github.com/bmatcuk/doublestar/v4"
)

// scriptConfigs has the packages and workspaces of npm, yarn, pnpm and lerna.
type scriptConfigs struct {
	packages   map[repo.Path]*scriptPackage
	workspaces map[repo.Path]*scriptWorkspace
	rules      map[repo.Path][]manifest.ModuleRules // of SvelteKit, Vite and Nuxt, by directory
}

// A scriptPackage is one package.json.
type scriptPackage struct {
	dir                  repo.Path
	name                 string
	source, module, main string
	exports, imports     any
	deps                 map[string]string // of all kinds: name to version
	packsSvelte          bool              // svelte-package compiles its library to dist
}

// A scriptWorkspace is a directory whose manifest lists packages.
type scriptWorkspace struct {
	patterns []string
	members  map[repo.Path]bool
	byName   map[string][]*scriptPackage
}

// sveltePackage matches a command of SvelteKit's packager without options that name other directories.
var sveltePackage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bsvelte-package(?:\s+(?:-w|--watch))?\s*(?:$|&&|;)`)
})

// add reads a package.json, pnpm-workspace.yaml, lerna.json or a configuration in JavaScript.
func (c *scriptConfigs) add(p repo.Path, content []byte) {
	if manifest.IsModuleConfig(p.Base()) {
		if c.rules == nil {
			c.rules = make(map[repo.Path][]manifest.ModuleRules)
		}
		c.rules[p.Dir()] = append(c.rules[p.Dir()], manifest.ParseModuleRules(p.Base(), content))
		return
	}
	doc, err := manifest.Parse(p.Base(), content)
	if p.Base() == "package.json" {
		if c.packages == nil {
			c.packages = make(map[repo.Path]*scriptPackage)
		}
		// A package with a broken manifest still hides the package around it.
		c.packages[p.Dir()] = newScriptPackage(p.Dir(), manifest.NodePackage{Document: doc})
	}
	if err == nil {
		c.addWorkspace(p.Dir(), manifest.Workspaces(p.Base(), doc))
	}
}

func newScriptPackage(dir repo.Path, file manifest.NodePackage) *scriptPackage {
	packs := false
	for _, name := range file.At("scripts").Keys() {
		script := file.Text("scripts", name)
		packs = packs || sveltePackage().MatchString(script)
	}
	return &scriptPackage{
		packsSvelte: packs,
		dir:         dir, name: file.Text("name"),
		source: file.Text("source"), module: file.Text("module"), main: file.Text("main"),
		exports: file.At("exports").Value(), imports: file.At("imports").Value(), deps: file.Dependencies(),
	}
}

func (c *scriptConfigs) addWorkspace(dir repo.Path, patterns []string) {
	if len(patterns) == 0 {
		return
	}
	if c.workspaces == nil {
		c.workspaces = make(map[repo.Path]*scriptWorkspace)
	}
	w := c.workspaces[dir]
	if w == nil {
		w = new(scriptWorkspace)
		c.workspaces[dir] = w
	}
	w.patterns = append(w.patterns, patterns...)
}

// finish finds the members of each workspace.
func (c *scriptConfigs) finish() {
	for root, w := range c.workspaces {
		w.members = make(map[repo.Path]bool)
		w.byName = make(map[string][]*scriptPackage)
		for dir, pkg := range c.packages {
			if !dir.Under(root) || dir != root && !w.matches(strings.TrimPrefix(string(dir[len(root):]), "/")) {
				continue
			}
			w.members[dir] = true
			if pkg.name != "" {
				w.byName[pkg.name] = append(w.byName[pkg.name], pkg)
			}
		}
	}
}

// matches reports whether the patterns of a workspace take in a directory below it.
func (w *scriptWorkspace) matches(rel string) bool {
	taken := false
	for _, pattern := range w.patterns {
		not := strings.HasPrefix(pattern, "!")
		pattern = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(pattern, "!"), "./"), "/")
		if len(pattern) > 200 || strings.Count(pattern, "{") > 4 {
			continue // matching it may take very long
		}
		if !doublestar.ValidatePattern(pattern) || !doublestar.MatchUnvalidated(pattern, rel) {
			continue
		}
		if not {
			return false
		}
		taken = true
	}
	return taken
}

// packageOf returns the package that a directory belongs to.
func (c *scriptConfigs) packageOf(dir repo.Path) *scriptPackage {
	if len(c.packages) == 0 {
		return nil
	}
	for d := range dir.Upward() {
		if pkg := c.packages[d]; pkg != nil {
			return pkg
		}
	}
	return nil
}

// requires reports whether a package around a directory names another one, or its types, as a dependency.
func (c *scriptConfigs) requires(dir repo.Path, name string) bool {
	for d := range dir.Upward() {
		pkg := c.packages[d]
		if pkg == nil {
			continue
		}
		for _, dependency := range []string{name, "@types/" + name} {
			if _, ok := pkg.deps[dependency]; ok {
				return true
			}
		}
	}
	return false
}

// workspaceOf returns the workspace around a directory.
func (c *scriptConfigs) workspaceOf(dir repo.Path) *scriptWorkspace {
	if len(c.workspaces) == 0 {
		return nil
	}
	for d := range dir.Upward() {
		if w := c.workspaces[d]; w != nil {
			return w
		}
	}
	return nil
}

// candidates returns the packages of the tree that a package's name may mean in a file of
// own's directory.
func (c *scriptConfigs) candidates(own *scriptPackage, dir repo.Path, name string) []*scriptPackage {
	w := c.workspaceOf(dir)
	if own != nil {
		if own.name == name && own.exports != nil {
			return []*scriptPackage{own}
		}
		if version, declared := own.deps[name]; declared {
			if target, ok := directoryDependency(version); ok {
				return c.packageAt(own.dir, target)
			}
			isMember := w != nil && w.members[own.dir]
			if !isMember && !strings.HasPrefix(version, "workspace:") || isRemote(version) {
				return nil
			}
		}
	}
	if w == nil {
		return nil
	}
	return w.byName[name]
}

// directoryDependency returns the directory of a dependency such as file:../lib.
func directoryDependency(version string) (string, bool) {
	for _, scheme := range []string{"file:", "link:", "portal:"} {
		if rest, ok := strings.CutPrefix(version, scheme); ok {
			return rest, true
		}
	}
	if rest, ok := strings.CutPrefix(version, "workspace:"); ok && (strings.HasPrefix(rest, ".") || strings.Contains(rest, "/")) {
		return rest, true
	}
	return "", false
}

// isRemote reports whether a version names another package or an address.
func isRemote(version string) bool {
	return strings.HasPrefix(version, "npm:") || strings.Contains(version, "://") || strings.HasPrefix(version, "git") || strings.HasPrefix(version, "github:")
}

func (c *scriptConfigs) packageAt(from repo.Path, rel string) []*scriptPackage {
	dir, ok := join(from, rel)
	if !ok || c.packages[dir] == nil {
		return nil
	}
	return []*scriptPackage{c.packages[dir]}
}

// A tsconfig has the options that determine where modules are, including those that it extends.
type tsconfig struct {
	baseURL    repo.Path
	hasBaseURL bool
	paths      []pathAlias // the longest pattern first
	references []*tsconfig
	outDir     repo.Path // where compiled files are, "" if it is not set
	rootDir    repo.Path // of the sources of outDir
	hasRootDir bool
}

// A pathAlias is one entry of paths.
type pathAlias struct {
	prefix, suffix string
	exact          bool
	targets        []repo.Path // with * where the match goes
}

// byTSConfig resolves a module through paths and baseUrl of the nearest tsconfig.json or
// jsconfig.json. It returns "" when they do not lead to a tracked file.
func (r *Resolver) byTSConfig(from repo.Path, spec string) (repo.Path, error) {
	config, err := r.tsconfigOf(from.Dir())
	if err != nil || config == nil {
		return "", err
	}
	if found, ok := r.byAlias(config, spec); ok {
		return found, nil
	}
	for _, ref := range config.references {
		if found, ok := r.byAlias(ref, spec); ok {
			return found, nil
		}
	}
	return "", nil
}

func (r *Resolver) byAlias(config *tsconfig, spec string) (repo.Path, bool) {
	for _, alias := range config.paths {
		star := ""
		switch {
		case alias.exact:
			if spec != alias.prefix {
				continue
			}
		case len(spec) < len(alias.prefix)+len(alias.suffix) || !strings.HasPrefix(spec, alias.prefix) || !strings.HasSuffix(spec, alias.suffix):
			continue
		default:
			star = spec[len(alias.prefix) : len(spec)-len(alias.suffix)]
		}
		for _, t := range alias.targets {
			p, ok := join("", strings.Replace(string(t), "*", star, 1))
			if !ok || isForeign(p) {
				continue
			}
			if found, ok := r.scriptFile(p, false); ok {
				return found, true
			}
		}
		break // TypeScript tries only the best pattern
	}
	if config.hasBaseURL {
		if p, ok := join(config.baseURL, spec); ok {
			return r.scriptFile(p, false)
		}
	}
	return "", false
}

// tsconfigOf returns the configuration for the files of a directory, nil when there is none.
func (r *Resolver) tsconfigOf(dir repo.Path) (*tsconfig, error) {
	for d := range dir.Upward() {
		for _, name := range []string{"tsconfig.json", "jsconfig.json"} {
			if p := under(d, name); r.has(p) {
				return r.tsconfigAt(p)
			}
		}
	}
	return nil, nil
}

func (r *Resolver) tsconfigAt(p repo.Path) (*tsconfig, error) {
	return r.tsconfigs.get(p, func() (*tsconfig, error) {
		return r.readTSConfig(p, p.Dir(), make(map[repo.Path]*tsconfig), true)
	})
}

// readTSConfig reads a configuration and those that it extends. configDir is the directory of the
// configuration that was asked for; known has the files that were read for it. A file that
// is broken or outside of the repository counts as empty, and so does one that extends
// itself.
func (r *Resolver) readTSConfig(p, configDir repo.Path, known map[repo.Path]*tsconfig, withReferences bool) (*tsconfig, error) {
	if c := known[p]; c != nil {
		return c, nil
	}
	c := new(tsconfig)
	known[p] = c
	content, err := r.read(p)
	if err != nil {
		return nil, err
	}
	doc, err := manifest.Parse(p.Base(), content)
	if err != nil {
		return c, nil //nolint:nilerr // a broken file counts as empty
	}
	for _, name := range doc.Texts("extends") {
		base, ok := r.extended(p, name)
		if !ok {
			continue
		}
		inherited, err := r.readTSConfig(base, configDir, known, false)
		if err != nil {
			return nil, err
		}
		if inherited.hasBaseURL {
			c.baseURL, c.hasBaseURL = inherited.baseURL, true
		}
		if inherited.paths != nil {
			c.paths = inherited.paths
		}
		if inherited.outDir != "" {
			c.outDir = inherited.outDir
		}
		if inherited.hasRootDir {
			c.rootDir, c.hasRootDir = inherited.rootDir, true
		}
	}
	if s, ok := doc.At("compilerOptions", "baseUrl").Value().(string); ok {
		c.baseURL, c.hasBaseURL = joinConfig(p.Dir(), configDir, s)
	}
	if paths := doc.At("compilerOptions", "paths"); paths.IsTable() {
		base := p.Dir()
		if c.hasBaseURL {
			base = c.baseURL
		}
		c.paths = pathAliases(base, configDir, paths)
	}
	r.readOutput(c, p, configDir, doc)
	if !withReferences {
		return c, nil
	}
	for _, ref := range doc.Items("references") {
		q, ok := join(p.Dir(), ref.Text("path"))
		if !ok {
			continue
		}
		if !strings.HasSuffix(string(q), ".json") {
			q = under(q, "tsconfig.json")
		}
		// Only parts of the same project: a solution whose options are in files beside it.
		if q.Dir() != p.Dir() || !r.has(q) {
			continue
		}
		part, err := r.readTSConfig(q, q.Dir(), known, false)
		if err != nil {
			return nil, err
		}
		c.references = append(c.references, part)
	}
	return c, nil
}

// readOutput reads where compiled files and their sources are. Without rootDir, the sources of a configuration that
// includes one directory are in it, if it has files itself.
func (r *Resolver) readOutput(c *tsconfig, p, configDir repo.Path, doc manifest.Document) {
	if s, ok := doc.At("compilerOptions", "outDir").Value().(string); ok {
		c.outDir, _ = joinConfig(p.Dir(), configDir, s)
	}
	if s, ok := doc.At("compilerOptions", "rootDir").Value().(string); ok {
		c.rootDir, c.hasRootDir = joinConfig(p.Dir(), configDir, s)
	}
	include := doc.Texts("include")
	if c.hasRootDir || len(include) != 1 {
		return
	}
	dir, rest, _ := strings.Cut(strings.TrimPrefix(include[0], "./"), "/")
	root := under(p.Dir(), dir)
	isTree := rest == "" || rest == "**/*" || rest == "**" || rest == "**/*.ts"
	isSource := func(p repo.Path) bool { return familyOf(outline.LanguageOf(p, nil)) == outline.TypeScript }
	if isTree && slices.ContainsFunc(r.dirs[root], isSource) {
		c.rootDir, c.hasRootDir = root, true
	}
}

// extended returns the file that a tsconfig extends, if it is in the repository.
func (r *Resolver) extended(from repo.Path, name string) (repo.Path, bool) {
	var bases []repo.Path
	if isRelative(name) {
		p, ok := join(from.Dir(), name)
		if !ok {
			return "", false
		}
		bases = []repo.Path{p}
	} else {
		pkgName, sub := packageName(name)
		for _, pkg := range r.script.candidates(r.script.packageOf(from.Dir()), from.Dir(), pkgName) {
			if sub == "" {
				sub = "tsconfig.json"
			}
			if p, ok := join(pkg.dir, sub); ok {
				bases = append(bases, p)
			}
		}
	}
	for _, p := range bases {
		for _, q := range []repo.Path{p, p + ".json", under(p, "tsconfig.json")} {
			if strings.HasSuffix(string(q), ".json") && r.has(q) {
				return q, true
			}
		}
	}
	return "", false
}

// joinConfig resolves a path of a tsconfig, which may begin with ${configDir}.
func joinConfig(dir, configDir repo.Path, rel string) (repo.Path, bool) {
	if rest, ok := strings.CutPrefix(rel, "${configDir}"); ok {
		return join(configDir, strings.TrimPrefix(rest, "/"))
	}
	return join(dir, rel)
}

// pathAliases reads paths. Targets that are outside of the repository are left out.
func pathAliases(base, configDir repo.Path, paths manifest.Document) []pathAlias {
	list := []pathAlias{}
	for _, pattern := range paths.Keys() {
		prefix, suffix, star := strings.Cut(pattern, "*")
		alias := pathAlias{prefix: prefix, suffix: suffix, exact: !star}
		for _, t := range paths.Texts(pattern) {
			if p, ok := joinConfig(base, configDir, t); ok {
				alias.targets = append(alias.targets, p)
			}
		}
		list = append(list, alias)
	}
	slices.SortFunc(list, func(a, b pathAlias) int {
		switch {
		case a.exact != b.exact && a.exact:
			return -1
		case a.exact != b.exact:
			return 1
		case len(a.prefix) != len(b.prefix):
			return len(b.prefix) - len(a.prefix)
		default:
			return strings.Compare(a.prefix+"*"+a.suffix, b.prefix+"*"+b.suffix)
		}
	})
	return list
}
