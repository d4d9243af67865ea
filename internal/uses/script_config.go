package uses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"ken/internal/repo"
)

// scriptConfigs has the packages and workspaces of npm, yarn, pnpm and lerna.
type scriptConfigs struct {
	packages   map[repo.Path]*scriptPackage
	workspaces map[repo.Path]*scriptWorkspace
}

// A scriptPackage is one package.json.
type scriptPackage struct {
	dir                  repo.Path
	name                 string
	source, module, main string
	exports, imports     any
	deps                 map[string]string // of all kinds: name to version
}

// A scriptWorkspace is a directory whose manifest lists packages.
type scriptWorkspace struct {
	patterns []string
	members  map[repo.Path]bool
	byName   map[string][]*scriptPackage
}

func (c *scriptConfigs) addPackage(dir repo.Path, content []byte) {
	var doc struct {
		Name         any             `json:"name"`
		Source       any             `json:"source"`
		Module       any             `json:"module"`
		Main         any             `json:"main"`
		Exports      any             `json:"exports"`
		Imports      any             `json:"imports"`
		Workspaces   json.RawMessage `json:"workspaces"`
		Dependencies json.RawMessage `json:"dependencies"`
		Dev          json.RawMessage `json:"devDependencies"`
		Peer         json.RawMessage `json:"peerDependencies"`
		Optional     json.RawMessage `json:"optionalDependencies"`
	}
	pkg := &scriptPackage{dir: dir, deps: make(map[string]string)}
	if c.packages == nil {
		c.packages = make(map[repo.Path]*scriptPackage)
	}
	// A package with a broken manifest still hides the package around it.
	c.packages[dir] = pkg
	if json.Unmarshal(content, &doc) != nil {
		return
	}
	pkg.name, _ = doc.Name.(string)
	pkg.source, _ = doc.Source.(string)
	pkg.module, _ = doc.Module.(string)
	pkg.main, _ = doc.Main.(string)
	pkg.exports, pkg.imports = doc.Exports, doc.Imports
	for _, deps := range []json.RawMessage{doc.Peer, doc.Optional, doc.Dev, doc.Dependencies} {
		var m map[string]any
		if json.Unmarshal(deps, &m) != nil {
			continue
		}
		for name, version := range m {
			if v, ok := version.(string); ok {
				pkg.deps[name] = v
			}
		}
	}
	var list []string
	var object struct {
		Packages []string `json:"packages"`
	}
	if json.Unmarshal(doc.Workspaces, &list) != nil {
		if json.Unmarshal(doc.Workspaces, &object) == nil {
			list = object.Packages
		}
	}
	c.addWorkspace(dir, list)
}

func (c *scriptConfigs) addPnpm(dir repo.Path, content []byte) {
	var doc struct {
		Packages []string `yaml:"packages"`
	}
	if yaml.Unmarshal(content, &doc) == nil {
		c.addWorkspace(dir, doc.Packages)
	}
}

func (c *scriptConfigs) addLerna(dir repo.Path, content []byte) {
	var doc struct {
		Packages []string `json:"packages"`
	}
	if json.Unmarshal(content, &doc) == nil {
		c.addWorkspace(dir, doc.Packages)
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
				return r.tsconfigs.get(p, func() (*tsconfig, error) {
					return r.readTSConfig(p, p.Dir(), make(map[repo.Path]*tsconfig), true)
				})
			}
		}
	}
	return nil, nil
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
	plain, err := hujson.Standardize(content)
	if err != nil {
		return c, nil //nolint:nilerr // a broken file counts as empty
	}
	var doc struct {
		Extends         any `json:"extends"`
		CompilerOptions struct {
			BaseURL any            `json:"baseUrl"`
			Paths   map[string]any `json:"paths"`
		} `json:"compilerOptions"`
		References []struct {
			Path string `json:"path"`
		} `json:"references"`
	}
	if json.Unmarshal(plain, &doc) != nil {
		return c, nil
	}
	for _, name := range stringsOf(doc.Extends) {
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
	}
	if s, ok := doc.CompilerOptions.BaseURL.(string); ok {
		c.baseURL, c.hasBaseURL = joinConfig(p.Dir(), configDir, s)
	}
	if doc.CompilerOptions.Paths != nil {
		base := p.Dir()
		if c.hasBaseURL {
			base = c.baseURL
		}
		c.paths = pathAliases(base, configDir, doc.CompilerOptions.Paths)
	}
	if !withReferences {
		return c, nil
	}
	for _, ref := range doc.References {
		q, ok := join(p.Dir(), ref.Path)
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
func pathAliases(base, configDir repo.Path, paths map[string]any) []pathAlias {
	list := make([]pathAlias, 0, len(paths))
	for pattern, v := range paths {
		prefix, suffix, star := strings.Cut(pattern, "*")
		alias := pathAlias{prefix: prefix, suffix: suffix, exact: !star}
		for _, t := range stringsOf(v) {
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

// stringsOf returns a string or the strings of a list.
func stringsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				list = append(list, s)
			}
		}
		return list
	}
	return nil
}
