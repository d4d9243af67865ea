package project

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// A nodePackage is a package.json.
type nodePackage struct {
	file    repo.Path
	dir     repo.Path
	text    []byte
	doc     manifest.NodePackage
	name    string
	scripts map[string]string
	manager string // npm, pnpm, yarn or bun
	// root is the directory of the workspace that the package is a member of; only valid if member is set.
	root   repo.Path
	member bool

	runs     []testRun // of all scripts, and of configuration files
	runsRead bool
}

// nodePackage returns the package of a directory, nil if it has none.
func (p *Project) nodePackage(dir repo.Path) *nodePackage {
	if pkg, ok := p.nodes[dir]; ok {
		return pkg
	}
	p.nodes[dir] = nil // also ends a search that comes back here
	file := p.firstFile(dir, "package.json")
	doc := manifest.NodePackage{Document: p.document(file)}
	if !doc.IsTable() {
		return nil
	}
	pkg := &nodePackage{file: file, dir: dir, text: p.text(file), doc: doc, scripts: make(map[string]string)}
	if name := doc.Text("name"); isName(name) {
		pkg.name = name
	}
	for _, name := range keysOf(doc.Document, "scripts") {
		script := doc.Text("scripts", name)
		if script != "" && isName(name) && !strings.Contains(script, "no test specified") {
			pkg.scripts[name] = script
		}
	}
	pkg.root, pkg.member = p.nodeWorkspace(dir)
	pkg.manager = p.nodeManager(dir)
	p.nodes[dir] = pkg
	return pkg
}

// nodeManager returns the package manager by the packageManager field or the lock file that is nearest above a directory, then by
// what CI runs. npm runs the scripts of any package.
func (p *Project) nodeManager(dir repo.Path) string {
	for d := range dir.Upward() {
		if name, _, _ := strings.Cut(p.document(p.firstFile(d, "package.json")).Text("packageManager"), "@"); isManager(name) {
			return name
		}
		for _, lock := range [][2]string{
			{"pnpm-lock.yaml", "pnpm"},
			{"pnpm-workspace.yaml", "pnpm"},
			{"yarn.lock", "yarn"},
			{"bun.lock", "bun"},
			{"bun.lockb", "bun"},
			{"package-lock.json", "npm"},
			{"npm-shrinkwrap.json", "npm"},
		} {
			if p.has(join(d, lock[0])) {
				return lock[1]
			}
		}
	}
	for _, s := range p.ciSteps() {
		if name, _, _ := strings.Cut(s.run, " "); strings.HasPrefix(s.key, "node:") && isManager(name) {
			return name
		}
	}
	return "npm"
}

func isManager(name string) bool {
	return name == "npm" || name == "pnpm" || name == "yarn" || name == "bun"
}

// nodeWorkspace returns the directory of the workspace that lists a package directory as a member.
func (p *Project) nodeWorkspace(dir repo.Path) (repo.Path, bool) {
	if dir == "" {
		return "", false
	}
	for d := range dir.Dir().Upward() {
		var globs []string
		for _, name := range []string{"package.json", "pnpm-workspace.yaml"} {
			globs = append(globs, manifest.Workspaces(name, p.document(p.firstFile(d, name)))...)
		}
		if len(globs) == 0 {
			continue
		}
		rel, _ := relative(d, dir)
		return d, matchesAny(globs, rel)
	}
	return "", false
}

// script returns the command that runs a script, for a shell at the root.
func (k *nodePackage) script(name string) string {
	run := "run " + name
	if name == "test" && k.manager != "bun" || name == "start" && k.manager == "npm" {
		run = name
	}
	if k.manager == "yarn" {
		run = name
	}
	switch {
	case k.dir == "":
		return k.manager + " " + run
	case !k.member || k.root != "" || k.name == "":
		return inDir(k.dir, k.manager+" "+run)
	}
	switch k.manager {
	case "pnpm":
		return "pnpm --filter " + k.name + " " + run
	case "yarn":
		return "yarn workspace " + k.name + " " + run
	case "bun":
		return "bun run --filter " + k.name + " " + name
	}
	return "npm " + run + " -w " + k.name
}

// nodeCommands adds the scripts of a package.
func (p *Project) nodeCommands(dir repo.Path, add func(candidate)) {
	pkg := p.nodePackage(dir)
	if pkg == nil {
		return
	}
	for _, name := range sortedKeys(pkg.scripts) {
		purpose, order, ok := purposeOf(name)
		switch script := pkg.scripts[name]; {
		case name == "check":
			purpose, order = forLint, orderNamed+2
		case !ok && (name == "format" || name == "fmt" || name == "prettier") && strings.Contains(script, "--check"):
			purpose, order, ok = forLint, orderNamed+4, true
		case name == "start":
			order++
		}
		if !ok {
			continue
		}
		add(candidate{
			Command: Command{Run: pkg.script(name), Source: pkg.file, Line: pkg.scriptLine(name)},
			purpose: purpose, lang: "js", key: "node:" + name, order: order,
		})
	}
}

// scriptLine returns the line of a script, 0 if it is not found.
func (k *nodePackage) scriptLine(name string) int { return jsonLine(k.text, "scripts", name) }

// classifyNode returns the purpose of a call of a package manager.
func classifyNode(manager string, args []string) (purpose, string, string, bool) {
	args = afterFlags(args)
	if manager == "yarn" && len(args) > 2 && args[0] == "workspace" {
		args = args[2:]
	}
	name := ""
	switch {
	case len(args) == 0:
		return 0, "", "", false
	case args[0] == "run" || args[0] == "run-script":
		name = firstTarget(args[1:])
	case args[0] == "t" || args[0] == "test":
		name = "test"
		if manager == "bun" {
			return forTest, "bun test", "js", true
		}
	case manager != "npm":
		name = args[0]
	}
	use, _, ok := purposeOf(name)
	if name == "format" || name == "fmt" {
		use, ok = forLint, true
	}
	return use, "node:" + name, "js", ok && isName(name)
}

// denoCommands adds the tasks of a deno.json.
func (p *Project) denoCommands(dir repo.Path, add func(candidate)) {
	file := p.firstFile(dir, "deno.json", "deno.jsonc")
	tasks := p.document(file).At("tasks")
	for _, name := range keysOf(tasks) {
		t := task{name, file, jsonLine(p.text(file), "tasks", name)}
		addTask(t, "deno task:", inDir(dir, "deno task "+name), add)
	}
}

// A globList is a list of globs of the JavaScript world: with **, braces, and groups such as +(spec|test). One that begins
// with "!" takes files out.
type globList struct{ in, out []*regexp.Regexp }

// compileGlobs compiles globs. It leaves out those that are malformed or would take too long.
func compileGlobs(globs []string) globList {
	var list globList
	for _, glob := range globs {
		glob, negated := strings.CutPrefix(glob, "!")
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		if repo.CheckGlobSize(glob) != nil {
			continue
		}
		re, err := regexp.Compile(globExpr(glob))
		switch {
		case err != nil:
		case negated:
			list.out = append(list.out, re)
		default:
			list.in = append(list.in, re)
		}
	}
	return list
}

// match reports whether one of the globs matches a path and none takes it out.
func (l globList) match(file string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(file) }
	return slices.ContainsFunc(l.in, matches) && !slices.ContainsFunc(l.out, matches)
}

// matchesAny reports whether one of the globs matches a path and none takes it out.
func matchesAny(globs []string, file string) bool { return compileGlobs(globs).match(file) }

// globExpr translates a glob to a regular expression. The expression of a malformed glob may not compile.
func globExpr(glob string) string {
	var b strings.Builder
	b.WriteString("^")
	var groups []string // what each open parenthesis or brace ends with
	for i := 0; i < len(glob); i++ {
		c := glob[i]
		next := byte(0)
		if i+1 < len(glob) {
			next = glob[i+1]
		}
		switch {
		case next == '(' && strings.IndexByte("?*+@", c) >= 0:
			b.WriteString("(?:")
			groups = append(groups, map[byte]string{'?': ")?", '*': ")*", '+': ")+", '@': ")"}[c])
			i++
		case c == '(':
			b.WriteString("(?:")
			groups = append(groups, ")")
		case c == ')' && len(groups) > 0:
			b.WriteString(groups[len(groups)-1])
			groups = groups[:len(groups)-1]
		case c == '|' && len(groups) > 0:
			b.WriteString("|")
		case c == '{':
			b.WriteString("(?:")
			groups = append(groups, ")")
		case c == '}' && len(groups) > 0:
			b.WriteString(")")
			groups = groups[:len(groups)-1]
		case c == ',' && len(groups) > 0:
			b.WriteString("|")
		case c == '*' && next == '*':
			i++
			if i+1 < len(glob) && glob[i+1] == '/' {
				i++
				b.WriteString("(?:.*/)?")
			} else {
				b.WriteString(".*")
			}
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(glob[i:], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			class := glob[i+1 : i+end]
			b.WriteString("[" + strings.Replace(strings.ReplaceAll(class, `\`, `\\`), "!", "^", 1) + "]")
			i += end
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString("$")
	return b.String()
}
