package project

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// installCommands adds the commands that install the dependencies of a directory.
func (p *Project) installCommands(dir repo.Path, add func(candidate)) {
	offer := func(run string, source repo.Path, lang string, order int) {
		words := strings.Fields(run)
		add(candidate{
			Command: Command{Run: inDir(dir, run), Source: source},
			purpose: forInstall, lang: lang, key: installKey(words[0], words), order: order,
		})
	}
	p.nodeInstall(dir, offer)
	p.pythonInstall(dir, offer)
	vendored := p.has(join(dir, "vendor/modules.txt"))
	if sum := p.firstFile(dir, "go.sum"); sum != "" && p.has(join(dir, "go.mod")) && !vendored {
		offer("go mod download", sum, "go", orderImplied)
	}
	if file := p.firstFile(dir, "Cargo.toml"); file != "" {
		if root, ok := p.cargoWorkspace(dir); !ok || root == dir {
			offer("cargo fetch", file, "rust", orderImplied)
		}
	}
	isMavenRoot := dir == "" || !p.has(join(dir.Dir(), "pom.xml"))
	if file := p.firstFile(dir, "pom.xml"); file != "" && isMavenRoot {
		tool := "mvn"
		if p.has(join(dir, "mvnw")) {
			tool = "./mvnw"
		}
		offer(tool+" install -DskipTests", file, "jvm", orderImplied)
	}
}

// nodeInstall adds the command of the package manager. A member of a workspace is installed with the workspace.
func (p *Project) nodeInstall(dir repo.Path, offer func(string, repo.Path, string, int)) {
	pkg := p.nodePackage(dir)
	if pkg == nil || pkg.member {
		return
	}
	lock := p.firstFile(dir, "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json", "npm-shrinkwrap.json")
	source := pkg.file
	if lock != "" {
		source = lock
	}
	needs := false
	for _, key := range []string{"dependencies", "devDependencies", "workspaces"} {
		needs = needs || pkg.doc.Has(key)
	}
	run := pkg.manager + " install"
	if pkg.manager == "npm" && lock != "" {
		run = "npm ci"
	}
	if needs || lock != "" {
		offer(run, source, "js", orderImplied)
	}
}

// pythonInstall adds the command of the project's own tool, else pip.
func (p *Project) pythonInstall(dir repo.Path, offer func(string, repo.Path, string, int)) {
	pyproject := p.firstFile(dir, "pyproject.toml")
	doc := p.document(pyproject)
	for _, m := range pythonManagers {
		if source := p.usesManager(dir, m); source != "" {
			offer(m.install, source, "python", orderImplied)
			return
		}
	}
	if file := p.firstFile(dir, "Pipfile"); file != "" {
		offer("pipenv install --dev", file, "python", orderImplied)
		return
	}
	if doc.Has("tool", "hatch", "envs") {
		offer("hatch env create", pyproject, "python", orderImplied+1)
	}
	extra := ""
	for _, name := range []string{"dev", "develop", "development", "all", "test", "tests", "testing"} {
		if doc.Has("project", "optional-dependencies", name) {
			extra = "[" + name + "]"
			break
		}
	}
	setup := p.firstFile(dir, "setup.py")
	switch {
	case doc.Has("build-system") || doc.Has("project", "name"):
		run := "pip install -e " + quoteWord("."+extra)
		if doc.Has("dependency-groups", "dev") {
			run += " --group dev"
		}
		offer(run, pyproject, "python", orderImplied)
	case setup != "":
		offer("pip install -e .", setup, "python", orderImplied)
	}
	if file := p.firstFile(dir, "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "dev_requirements.txt", "requirements/dev.txt",
		"requirements/develop.txt", "requirements/development.txt", "requirements-test.txt", "requirements/test.txt", "requirements/tests.txt",
		"requirements.txt", "requirements/base.txt", "requirements/default.txt"); file != "" {
		rel, _ := relative(dir, file)
		offer("pip install -r "+quotePath(repo.Path(rel)), file, "python", orderImplied+1)
	}
}

// installs reports whether the words of a command install the dependencies of the project, and not one package.
func installs(tool string, args []string) bool {
	named := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			named += " " + a
		}
	}
	switch tool + named {
	case "npm ci", "npm install", "npm i", "pnpm install", "pnpm i", "yarn install", "yarn", "bun install", "uv sync", "poetry install", "pdm install",
		"pipenv install", "rye sync", "bundle install", "bundle", "composer install", "go mod download", "cargo fetch", "dotnet restore", "mix deps.get":
		return !slices.Contains(args, "-g") && !slices.Contains(args, "--global") && !slices.Contains(args, "--version")
	}
	if tool == "uv" && len(args) > 1 && args[0] == "pip" {
		tool, args = "pip", args[1:]
	}
	if tool != "pip" && tool != "pip3" || len(args) == 0 || args[0] != "install" {
		return false
	}
	own := func(a string) bool {
		return a == "-e" || a == "--editable" || a == "-r" || a == "--requirement" || a == "." || strings.HasPrefix(a, ".[") || strings.HasPrefix(a, "-r")
	}
	return slices.ContainsFunc(args, own)
}

// installLanguages has the languages of package managers.
var installLanguages = map[string]string{
	"npm": "js", "pnpm": "js", "yarn": "js", "bun": "js",
	"pip": "python", "pip3": "python", "uv": "python", "poetry": "python", "pdm": "python", "pipenv": "python", "rye": "python",
	"bundle": "ruby", "composer": "php", "go": "go", "cargo": "rust",
}

// installKey returns a key that is the same for all calls of a package manager, except pip: its arguments decide what it
// installs.
func installKey(tool string, words []string) string {
	lang := installLanguages[tool]
	if tool == "pip" || tool == "pip3" || lang == "" {
		return strings.Join(words, " ")
	}
	return "install " + lang
}

// runCommands adds the programs of a Python, Ruby or JavaScript package. Other languages add theirs with their builds.
func (p *Project) runCommands(dir repo.Path, add func(candidate)) {
	offer := func(run string, source repo.Path, line int, lang string, order int) {
		add(candidate{
			Command: Command{Run: inDir(dir, run), Source: source, Line: line},
			purpose: forRun, lang: lang, key: run, order: order,
		})
	}
	scripts := p.consoleScripts(dir)
	for _, s := range scripts {
		offer(p.pythonPrefix(dir)+s.name, s.source, s.line, "python", orderImplied)
	}
	if len(scripts) == 0 && p.isPythonRoot(dir) {
		for _, root := range []string{"", "src/"} {
			for _, f := range p.filesUnder(join(dir, strings.TrimSuffix(root, "/")), len(p.files)) {
				rel, _ := relative(join(dir, strings.TrimSuffix(root, "/")), f)
				name, ok := strings.CutSuffix(rel, "/__main__.py")
				if ok && isVariable(name) && !isSideDir(name) {
					offer(p.pythonPrefix(dir)+"python -m "+name, f, 0, "python", orderImplied+1)
				}
			}
		}
	}
	if p.manifest(dir, "*.gemspec") != "" {
		for _, f := range p.filesUnder(join(dir, "exe"), maxNames) {
			rel, _ := relative(dir, f)
			offer(p.bundled(dir)+quotePath(repo.Path(rel)), f, 0, "ruby", orderImplied)
		}
	}
	pkg := p.nodePackage(dir)
	if pkg == nil || !pkg.doc.Has("bin") {
		return
	}
	for _, f := range p.nodeBins(pkg) {
		if rel, ok := relative(dir, f); ok && f != "" && strings.HasSuffix(rel, "js") {
			offer("node "+quotePath(repo.Path(rel)), pkg.file, jsonLine(pkg.text, "bin"), "js", orderImplied+2)
		}
	}
}

// isSideDir reports whether the programs in a directory are not those of the project.
func isSideDir(name string) bool {
	switch name {
	case "tests", "test", "docs", "examples", "scripts", "tools", "benchmarks":
		return true
	}
	return false
}

// A consoleScript is a program that a Python package installs.
type consoleScript struct {
	name   string
	target string // package.module:function
	source repo.Path
	line   int
}

var setupScripts = lazyRegexp(`(?s)['"]?console_scripts['"]?\s*[:=]\s*\[(.*?)\]`)

// consoleScripts returns the programs that the package of a directory installs.
func (p *Project) consoleScripts(dir repo.Path) []consoleScript {
	var list []consoleScript
	add := func(name, target string, source repo.Path) {
		name = strings.TrimSpace(name)
		if !isName(name) {
			return
		}
		line := lineOf(p.text(source), `^[ \t]*["']?`+regexp.QuoteMeta(name)+`["']?\s*=`)
		list = append(list, consoleScript{name, strings.TrimSpace(target), source, line})
	}
	if file := p.firstFile(dir, "pyproject.toml"); file != "" {
		doc := p.document(file)
		for _, table := range []manifest.Document{doc.At("project", "scripts"), doc.At("project", "gui-scripts"), doc.At("tool", "poetry", "scripts")} {
			for _, name := range keysOf(table) {
				add(name, table.Text(name), file)
			}
		}
	}
	if file := p.firstFile(dir, "setup.cfg"); file != "" {
		for _, line := range strings.Split(manifest.ParseINI(p.text(file))["options.entry_points"]["console_scripts"].Text, "\n") {
			if name, target, ok := strings.Cut(line, "="); ok {
				add(name, target, file)
			}
		}
	}
	if file := p.firstFile(dir, "setup.py"); file != "" {
		if m := setupScripts().FindSubmatch(p.text(file)); m != nil {
			for _, text := range quotedStrings(string(m[1])) {
				if name, target, ok := strings.Cut(text, "="); ok {
					add(name, target, file)
				}
			}
		}
	}
	return list
}

// A Need is a language or tool with the version that a manifest asks for.
type Need struct {
	Text   string // "Go 1.24"
	Source repo.Path
	Line   int
}

// Needs returns the languages and tools that the manifests of a directory ask for.
func (p *Project) Needs(dir repo.Path) []Need {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Need
	add := func(name, version string, source repo.Path, line int) {
		version = cleanText(version)
		same := func(n Need) bool { return strings.HasPrefix(n.Text, name+" ") }
		if version != "" && len(version) < 40 && !slices.ContainsFunc(list, same) {
			list = append(list, Need{name + " " + version, source, line})
		}
	}
	if mod := p.goMod(dir); mod != nil {
		add("Go", mod.Go, join(dir, "go.mod"), mod.GoLine)
	}
	if pkg := p.nodePackage(dir); pkg != nil {
		for _, name := range []string{"node", "npm", "pnpm", "yarn", "bun"} {
			shown := strings.Replace(name, "node", "Node.js", 1)
			add(shown, pkg.doc.Text("engines", name), pkg.file, jsonLine(pkg.text, "engines", name))
		}
		if tool, version, ok := strings.Cut(pkg.doc.Text("packageManager"), "@"); ok && isManager(tool) {
			version, _, _ = strings.Cut(version, "+")
			add(tool, version, pkg.file, jsonLine(pkg.text, "packageManager"))
		}
	}
	for _, v := range versionFiles {
		file := p.firstFile(dir, v.file)
		if strings.Contains(v.file, "*") {
			file = p.manifest(dir, v.file)
		}
		text := p.text(file)
		if m := v.version().FindSubmatchIndex(text); m != nil {
			add(v.name, string(text[m[2]:m[3]]), file, lineAt(text, m[2]))
		}
	}
	return list
}

var (
	onlyVersion   = lazyRegexp(`\A\s*([vV]?[\w.*/-]+)\s*\n?\z`)
	pythonVersion = lazyRegexp(`(?m)^\s*(?:requires-python|python_requires)\s*=\s*["']?([^"'\n#]+?)["']?\s*,?\s*(?:#.*)?$`)
	gradleVersion = lazyRegexp(`(?:languageVersion[^\n]*of\(|JavaVersion\.VERSION_|sourceCompatibility\s*=\s*["']?)(\d[\d_.]*)`)
)

// versionFiles are the files that say which version of a language or tool is needed. Of those for one name, the first counts.
var versionFiles = []struct {
	name, file string
	version    func() *regexp.Regexp
}{
	{"Node.js", ".nvmrc", onlyVersion},
	{"Node.js", ".node-version", onlyVersion},
	{"Python", "pyproject.toml", pythonVersion},
	{"Python", "setup.cfg", pythonVersion},
	{"Python", "setup.py", pythonVersion},
	{"Python", ".python-version", onlyVersion},
	{"Rust", "Cargo.toml", lazyRegexp(`(?m)^\s*rust-version\s*=\s*"([^"]+)"`)},
	{"Rust", "rust-toolchain.toml", lazyRegexp(`(?m)^\s*channel\s*=\s*"([^"]+)"`)},
	{"Rust", "rust-toolchain", onlyVersion},
	{"Ruby", "*.gemspec", lazyRegexp(`required_ruby_version\s*=?\s*(?:Gem::Requirement\.new\()?["']([^"']+)`)},
	{"Ruby", ".ruby-version", onlyVersion},
	{"PHP", "composer.json", lazyRegexp(`"require"\s*:\s*\{[^}]*?"php"\s*:\s*"([^"]+)"`)},
	{"Java", "pom.xml", lazyRegexp(`<(?:maven\.compiler\.(?:release|source)|java\.version|release)>\s*([\d.]+)\s*<`)},
	{"Java", "build.gradle", gradleVersion},
	{"Java", "build.gradle.kts", gradleVersion},
	{"CMake", "CMakeLists.txt", lazyRegexp(`(?i)cmake_minimum_required\s*\(\s*VERSION\s+([\d.]+)`)},
}

// orderDoc is the order of a command that only a document shows.
const orderDoc = 18

// docCommands adds the commands that guides and the README show and that no manifest offers.
func (p *Project) docCommands(list *[]candidate, add func(candidate)) {
	for _, doc := range p.instructionFiles("") {
		p.commandsIn(doc, nil, list, add)
	}
	if readme := p.firstFile("", "README.md", "README.rst", "README", "readme.md", "Readme.md"); readme != "" {
		p.commandsIn(readme, devHeading(), list, add)
	}
}

var devHeading = lazyRegexp(`(?i)contribut|develop|hacking|from source|\bbuild|\btest`)

// commandsIn adds the commands in the code blocks of a document, of all sections or of those with some headings.
func (p *Project) commandsIn(doc repo.Path, headings *regexp.Regexp, list *[]candidate, add func(candidate)) {
	n := 0
	fenced := false
	wanted := headings == nil
	for line := range strings.Lines(string(p.text(doc))) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case isFence(line):
			fenced = !fenced
			continue
		case !fenced && headingMark().MatchString(trimmed):
			wanted = headings == nil || headings.MatchString(trimmed)
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if !wanted || !fenced && !indented {
			continue
		}
		trimmed = strings.TrimPrefix(strings.TrimPrefix(trimmed, "$ "), "> ")
		for _, c := range splitShell(trimmed) {
			use, key, lang, ok := classify(c.words)
			placeholder := strings.ContainsAny(trimmed, "<>{}…")
			known := func(o candidate) bool { return o.purpose == use && o.key == key }
			if !ok || !c.plain || placeholder || slices.ContainsFunc(*list, known) {
				continue
			}
			add(candidate{
				Command: Command{Run: quoteWords(c.words), Source: doc, Line: n},
				purpose: use, lang: lang, key: key, order: orderDoc,
			})
		}
	}
}
