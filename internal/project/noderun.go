package project

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A testRun is one call of a JavaScript test runner: by a script, or implied by a configuration file.
type testRun struct {
	runner *nodeRunner
	script string   // the script that calls it; "" if a configuration file or dependency implies it
	env    []string // assignments before it
	flags  []string // its words without files
	files  []string // the files, directories and globs that it is given, from the package's directory
	source repo.Path
	line   int

	named    globList      // files as globs
	patterns []testPattern // what the runner runs if it is given no files
	config   repo.Path     // the file that patterns come from; "" if they are the runner's own
}

// A nodeRunner is a program that runs JavaScript tests.
type nodeRunner struct {
	name     string
	start    []string // the words that run tests once, without the name of a package manager
	patterns []string // the files that it runs if it is told none
	drop     []string // flags that do not belong to a run of one file
	fileFlag string   // goes before the file, if it needs one
	builtin  bool     // needs no package manager
	exact    bool     // a name without ./ would be a filter
	nameFlag string   // goes before the title of a test, or before an expression for several
}

const jsExt = `?(c|m)[jt]s?(x)`

var nodeRunners = []*nodeRunner{
	{name: "vitest", start: []string{"vitest", "run"}, patterns: []string{"**/*.{test,spec}." + jsExt}, drop: []string{"run", "watch", "--run", "--watch", "-w", "--coverage", "--ui", "--coverage.enabled"}, nameFlag: "-t"},
	{name: "jest", start: []string{"jest"}, patterns: []string{"**/__tests__/**/*." + jsExt, "**/?(*.)+(spec|test)." + jsExt}, drop: []string{"--watch", "--watchAll", "--coverage", "--collectCoverage"}, nameFlag: "-t"},
	{name: "playwright", start: []string{"playwright", "test"}, patterns: []string{"**/*.@(spec|test)." + jsExt}, drop: []string{"test", "--ui"}, nameFlag: "-g"},
	{name: "cypress", start: []string{"cypress", "run"}, patterns: []string{"cypress/e2e/**/*.cy.{js,jsx,ts,tsx}"}, drop: []string{"run", "open"}, fileFlag: "--spec"},
	{name: "mocha", start: []string{"mocha"}, patterns: []string{"test/*.{js,cjs,mjs}"}, drop: []string{"--watch", "-w", "--recursive"}, nameFlag: "-g"},
	{name: "ts-mocha", start: []string{"ts-mocha"}, patterns: []string{"test/*.ts"}, drop: []string{"--watch", "-w", "--recursive"}, nameFlag: "-g"},
	{name: "ava", start: []string{"ava"}, patterns: []string{"test.js", "src/test.js", "**/test-*.js", "**/*.{spec,test}.{js,cjs,mjs,ts}", "**/{test,tests,__tests__}/**/*.{js,cjs,mjs,ts}"}, drop: []string{"--watch", "-w"}},
	{name: "tap", start: []string{"tap"}, patterns: []string{"**/{test,tests,__tests__}/**/*." + jsExt, "**/*.{test,spec}." + jsExt}, drop: []string{"--watch"}},
	{name: "tape", start: []string{"tape"}},
	{name: "jasmine", start: []string{"jasmine"}, patterns: []string{"spec/**/*[sS]pec.?(m)js"}},
	{name: "qunit", start: []string{"qunit"}, patterns: []string{"test/**/*.js"}},
	{name: "wtr", start: []string{"wtr"}, drop: []string{"--watch"}},
	{name: "web-test-runner", start: []string{"web-test-runner"}, drop: []string{"--watch"}},
	{name: "react-scripts", start: []string{"react-scripts", "test", "--watchAll=false"}, patterns: []string{"src/**/__tests__/**/*.{js,jsx,ts,tsx}", "src/**/*.{spec,test}.{js,jsx,ts,tsx}"}, drop: []string{"test", "--watchAll", "--watchAll=false"}, nameFlag: "-t"},
	{name: "node", start: []string{"node", "--test"}, patterns: []string{"**/*{.,-,_}test.{js,cjs,mjs,ts,cts,mts}", "**/test-*.{js,cjs,mjs,ts,cts,mts}", "**/test.{js,cjs,mjs,ts,cts,mts}", "**/test/**/*.{js,cjs,mjs,ts,cts,mts}"}, drop: []string{"--test", "--watch", "--experimental-test-coverage"}, builtin: true, nameFlag: "--test-name-pattern"},
	// borp runs files by node's runner, and a list of files in its configuration besides the one that it is given.
	{name: "borp", start: []string{"node", "--test"}, patterns: []string{"**/*.test.{js,cjs,mjs}"}, builtin: true},
	{name: "tsx", start: []string{"tsx", "--test"}, patterns: []string{"**/*{.,-,_}test.{js,cjs,mjs,ts,cts,mts,tsx}"}, drop: []string{"--test", "--watch"}, nameFlag: "--test-name-pattern"},
	{name: "bun", start: []string{"bun", "test"}, patterns: []string{"**/*{.,_}{test,spec}." + jsExt}, drop: []string{"test", "--watch", "--coverage"}, builtin: true, exact: true, nameFlag: "-t"},
	{name: "deno", start: []string{"deno", "test"}, patterns: []string{"**/?(*[._])test.{ts,tsx,mts,js,mjs,jsx}", "**/__tests__/**/*.{ts,tsx,mts,js,mjs,jsx}"}, drop: []string{"test", "--watch"}, builtin: true, nameFlag: "--filter"},
}

// runnerNamed returns a runner, nil if there is none of that name.
func runnerNamed(name string) *nodeRunner {
	i := slices.IndexFunc(nodeRunners, func(r *nodeRunner) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return nodeRunners[i]
}

// testRuns returns the calls of test runners in a package.
func (p *Project) testRuns(pkg *nodePackage) []testRun {
	if pkg.runsRead {
		return pkg.runs
	}
	pkg.runsRead = true
	for _, name := range names(pkg.scripts) {
		for _, c := range splitShell(pkg.scripts[name]) {
			if run, ok := p.parseRun(pkg, c.words); ok {
				run.script, run.source, run.line = name, pkg.file, pkg.scriptLine(name)
				pkg.runs = append(pkg.runs, run)
			}
		}
	}
	for _, r := range nodeRunners {
		called := func(run testRun) bool { return run.runner == r }
		if slices.ContainsFunc(pkg.runs, called) {
			continue
		}
		run := testRun{runner: r, flags: r.start}
		run.source, run.line = p.impliedBy(pkg, r)
		if run.source == "" {
			continue
		}
		p.setPatterns(pkg, &run)
		pkg.runs = append(pkg.runs, run)
	}
	return pkg.runs
}

// impliedBy returns the configuration file or dependency that shows that a package uses a runner.
func (p *Project) impliedBy(pkg *nodePackage, r *nodeRunner) (repo.Path, int) {
	if conf := p.runnerConfig(pkg.dir, r.name); conf != "" {
		return conf, 0
	}
	if r.name == "jest" && at(pkg.doc, "jest") != nil {
		return pkg.file, jsonLine(pkg.text, "jest")
	}
	name := r.name
	switch name {
	case "playwright":
		name = "@playwright/test"
	case "node", "bun", "deno", "tsx", "tap", "tape", "qunit":
		return "", 0 // the dependency is not there only for tests, or there is none
	}
	for _, group := range []string{"devDependencies", "dependencies"} {
		if at(pkg.doc, group, name) != nil {
			return pkg.file, jsonLine(pkg.text, group, name)
		}
	}
	return "", 0
}

// runnerConfig returns the configuration file of a runner in a directory, "" for none.
func (p *Project) runnerConfig(dir repo.Path, name string) repo.Path {
	switch name {
	case "mocha":
		return p.defaultConfig(dir, ".mocharc")
	case "vitest":
		if conf := p.defaultConfig(dir, "vitest.config"); conf != "" {
			return conf
		}
		if conf := p.defaultConfig(dir, "vite.config"); conf != "" && strings.Contains(string(p.text(conf)), "vitest") {
			return conf
		}
		return ""
	case "bun", "deno", "node":
		return ""
	}
	return p.defaultConfig(dir, name+".config")
}

// defaultConfig returns the file of a directory that has a name and any extension, "" for none. A name with another word
// between the two, as in vitest.config.e2e.ts, is only read by a run that names it.
func (p *Project) defaultConfig(dir repo.Path, name string) repo.Path {
	for _, f := range p.manifests[dir] {
		if strings.TrimSuffix(f.Base(), path.Ext(f.Base())) == name {
			return f
		}
	}
	return ""
}

// parseRun reads a command as a call of a test runner.
func (p *Project) parseRun(pkg *nodePackage, words []string) (testRun, bool) {
	run := testRun{}
	tool := toolOf(words)
	for _, w := range words[:len(words)-len(tool)] {
		if assignments([]string{w}) == 1 {
			run.env = append(run.env, w)
		}
	}
	if len(tool) == 0 {
		return run, false
	}
	name := path.Base(tool[0])
	args := tool[1:]
	switch name {
	case "c8", "nyc":
		return run, false
	case "borp":
		args = nil // its flags are not those of node
	case "_mocha":
		name = "mocha"
	case "node", "tsx":
		if !slices.Contains(args, "--test") {
			return run, false
		}
	case "bun", "deno", "playwright", "react-scripts":
		if len(args) == 0 || args[0] != "test" {
			return run, false
		}
	}
	run.runner = runnerNamed(name)
	if run.runner == nil {
		return run, false
	}
	run.flags = slices.Clone(run.runner.start)
	for i := 0; i < len(args); i++ {
		a := args[i]
		flag, _, _ := strings.Cut(a, "=")
		switch {
		case slices.Contains(run.runner.drop, flag) || slices.Contains(run.runner.drop, a):
		case flag == "--spec":
			// The files of mocha and cypress.
			if flag == a && i+1 < len(args) {
				i++
				a = args[i]
			}
			run.files = append(run.files, strings.TrimPrefix(a, "--spec="))
		case strings.HasPrefix(a, "-"):
			run.flags = append(run.flags, a)
			if flag == a && i+1 < len(args) && takesValue(a) {
				i++
				run.flags = append(run.flags, args[i])
			}
		case p.namesFiles(pkg.dir, a):
			run.files = append(run.files, a)
		default:
			run.flags = append(run.flags, a)
		}
	}
	p.setPatterns(pkg, &run)
	return run, true
}

// takesValue reports flags whose value is the next word.
func takesValue(flag string) bool {
	switch flag {
	case "-c", "--config", "--configLoader", "-p", "--project", "-r", "--require", "--import", "--loader", "--experimental-loader", "--tsconfig", "--jsx-import-source", "--root", "--dir",
		"--reporter", "--timeout", "-t", "--testTimeout", "--environment", "--env", "--pool", "--preload", "--ui", "--test-name-pattern", "--test-reporter", "--maxWorkers", "-w":
		return true
	}
	return false
}

// namesFiles reports whether an argument names tracked files: a glob, a file or a directory.
func (p *Project) namesFiles(dir repo.Path, arg string) bool {
	if strings.ContainsAny(arg, "*{") {
		return true
	}
	file := join(dir, arg)
	return arg == "." || file != "" && (p.has(file) || p.isDir(file))
}

var (
	globValue    = later(`\b(include|testMatch|spec|exclude|testIgnore)\s*['"]?\s*:\s*`)
	regexpValue  = later(`\b(testRegex|testPathIgnorePatterns)\s*['"]?\s*:\s*`)
	rootsValue   = later(`\broots\s*['"]?\s*:\s*`)
	rootDirText  = later(`\brootDir\s*['"]?\s*:\s*['"]([^'"\n]+)['"]`)
	quotedText   = later("'([^'\n]*)'|\"([^\"\n]*)\"|`([^`\n$]*)`")
	testDirText  = later(`\btestDir\s*:\s*['"]([^'"\n]+)['"]`)
	dirText      = later(`\bdir\s*:\s*['"]([^'"\n]+)['"]`)
	projectArray = later(`\b(?:projects|workspace)\s*['"]?\s*:\s*\[`)
)

// A testPattern says which files a runner takes. All paths are from the package's directory.
type testPattern struct {
	dir   string           // globs are from here, and other files are not taken
	roots []string         // files outside of them are not taken; none for all files
	globs globList         // of the files
	exprs []*regexp.Regexp // of the files, each with a slash before it; stand in place of globs
	not   []*regexp.Regexp // of files that are not taken
}

func (t *testPattern) match(file string) bool {
	within := func(dir string) bool { return dir == "" || strings.HasPrefix(file, dir+"/") }
	matches := func(re *regexp.Regexp) bool { return re.MatchString("/" + file) }
	switch {
	case !within(t.dir) || len(t.roots) > 0 && !slices.ContainsFunc(t.roots, within):
		return false
	case slices.ContainsFunc(t.not, matches):
		return false
	case len(t.exprs) > 0:
		return slices.ContainsFunc(t.exprs, matches)
	case t.dir != "":
		file = file[len(t.dir)+1:]
	}
	return t.globs.match(file)
}

// flag returns the value of the first of the flags that a run has, "" for none.
func (run *testRun) flag(names ...string) string {
	for i, f := range run.flags {
		name, value, ok := strings.Cut(f, "=")
		switch {
		case !slices.Contains(names, name):
		case ok:
			return value
		case i+1 < len(run.flags):
			return run.flags[i+1]
		}
	}
	return ""
}

// root returns the directory that vitest is told to start in, "" for the package's directory.
func (run *testRun) root() string {
	if run.runner.name != "vitest" {
		return ""
	}
	return run.flag("-r", "--root")
}

// setPatterns finds out which files a run takes: those that the script names, else those that the configuration
// lists, else the runner's own.
func (p *Project) setPatterns(pkg *nodePackage, run *testRun) {
	var named []string
	for _, arg := range run.files {
		arg = strings.TrimSuffix(strings.TrimPrefix(arg, "./"), "/")
		if arg == "." {
			arg = "**"
		}
		named = append(named, arg, arg+"/**")
	}
	run.named = compileGlobs(named)

	code, config := p.configCode(pkg, run)
	base, _ := relative(pkg.dir, config.Dir())
	if config == "" || run.runner.name != "jest" && run.runner.name != "playwright" {
		base = "" // the runner starts in the package's directory
	}
	lists := configGlobs(code, run.runner)
	all := testPattern{dir: base}
	dirs := []string{base}
	switch run.runner.name {
	case "vitest":
		dirs = vitestDirs(code, run)
	case "jest":
		all.readJest(code)
		dirs = []string{all.dir}
	case "playwright":
		if found := testDirText().FindAllStringSubmatch(code, 20); found != nil {
			dirs = nil
			for _, m := range found {
				dirs = append(dirs, within(base, m[1]))
			}
		}
	}
	if len(lists) > 0 || len(all.exprs) > 0 || len(all.not) > 0 || len(all.roots) > 0 || !slices.Equal(dirs, []string{""}) {
		run.config = config
	}
	if len(lists) == 0 {
		lists = [][]string{run.runner.patterns}
	}
	for _, dir := range dirs {
		for _, globs := range lists {
			one := all
			own := slices.Clone(globs)
			for i, glob := range own {
				own[i] = strings.TrimPrefix(glob, "<rootDir>/")
			}
			one.dir, one.globs = dir, compileGlobs(own)
			run.patterns = append(run.patterns, one)
		}
	}
}

// within returns a directory that a configuration names, from the package's directory. A name that leads out of the package stands
// for the package.
func within(base, name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "<rootDir>"), "/")
	dir := path.Join(base, name)
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return ""
	}
	return dir
}

// vitestDirs returns the directories that vitest searches.
func vitestDirs(code string, run *testRun) []string {
	root := within("", run.root())
	if dir := run.flag("--dir"); dir != "" {
		return []string{within("", dir)}
	}
	for _, m := range dirText().FindAllStringSubmatchIndex(code, 20) {
		open := openBrace(code[:m[0]])
		if open >= 0 && strings.HasSuffix(strings.TrimRight(code[:open], " \t\n"), "test:") {
			return []string{within(root, code[m[2]:m[3]])}
		}
	}
	return []string{root}
}

// readJest reads the directories and regular expressions of a configuration of jest. dir is the directory of its file.
func (t *testPattern) readJest(code string) {
	if m := rootDirText().FindStringSubmatch(code); m != nil {
		t.dir = within(t.dir, m[1])
	}
	if m := rootsValue().FindStringIndex(code); m != nil {
		for _, root := range quotedStrings(valueAt(code, m[1])) {
			t.roots = append(t.roots, within(t.dir, root))
		}
	}
	rootDir := ""
	if t.dir != "" {
		rootDir = "/" + regexp.QuoteMeta(t.dir)
	}
	for _, m := range regexpValue().FindAllStringSubmatchIndex(code, 20) {
		for _, expr := range quotedStrings(valueAt(code, m[1])) {
			const longest = 500
			if rest, ok := strings.CutPrefix(expr, "<rootDir>"); ok {
				expr = "^" + rootDir + rest
			}
			re, err := regexp.Compile(expr)
			switch {
			case err != nil || len(expr) > longest:
			case code[m[2]:m[3]] == "testRegex":
				t.exprs = append(t.exprs, re)
			default:
				t.not = append(t.not, re)
			}
		}
	}
}

// configCode returns the configuration of a run as code without comments, and its file: the one that the run names, else a part of
// package.json, else the file with the default name.
func (p *Project) configCode(pkg *nodePackage, run *testRun) (string, repo.Path) {
	name := run.runner.name
	config := repo.Path("")
	switch named := run.flag("-c", "--config"); {
	case run.runner.builtin:
		return "", ""
	case named != "":
		config = join(pkg.dir, path.Join(run.root(), named))
	case slices.Contains(run.flags, "--no-config"):
		return "", ""
	default:
		if section := at(pkg.doc, name); section != nil && (name == "jest" || name == "ava" || name == "mocha") {
			return sectionCode(section), pkg.file
		}
		config = p.runnerConfig(join(pkg.dir, run.root()), name)
	}
	if ext := path.Ext(config.Base()); ext == ".yml" || ext == ".yaml" || name == "mocha" && ext != ".js" && ext != ".cjs" && ext != ".mjs" {
		if spec := textsAt(p.document(config), "spec"); len(spec) > 0 {
			return sectionCode(map[string]any{"spec": spec}), config
		}
	}
	code := withoutComments(string(p.text(config)))
	for _, block := range []string{"coverage", "optimizeDeps", "typecheck", "benchmark"} {
		code = dropBlock(code, block)
	}
	return code, config
}

// sectionCode returns a part of a document as JSON.
func sectionCode(section any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(section) != nil {
		return ""
	}
	return b.String()
}

// configGlobs returns the lists of globs in a configuration; none if it has no list.
func configGlobs(code string, runner *nodeRunner) [][]string {
	own := runner.patterns
	if runner.name == "ava" {
		var section struct{ Files []string }
		if json.Unmarshal([]byte(code), &section) == nil && len(section.Files) > 0 {
			return [][]string{directoryGlobs(section.Files)}
		}
	}
	lists := arrayGlobs(code, own)
	switch runner.name {
	case "mocha", "ts-mocha":
		for i := range lists {
			lists[i] = directoryGlobs(lists[i])
		}
	case "playwright":
		for _, list := range lists {
			for i, glob := range list {
				glob, negated := strings.CutPrefix(glob, "!")
				list[i] = "**/" + strings.TrimPrefix(glob, "**/")
				if negated {
					list[i] = "!" + list[i]
				}
			}
		}
		return lists
	}
	m := projectArray().FindStringIndex(code)
	if m == nil {
		return lists
	}
	// A project may be a directory, or a configuration file in one.
	array := withoutObjects(valueAt(code, m[1]-1))
	names := quotedStrings(array)
	switch computed := ownIfComputed(array, own); {
	case computed == nil && len(names) > 0:
		lists = nil // each project has its own file
	case computed != nil && len(lists) == 0:
		return [][]string{computed}
	}
	for _, s := range names {
		dir := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "<rootDir>/"), "./"), "/")
		if strings.HasPrefix(dir, "!") {
			continue
		}
		if strings.Contains(path.Base(dir), ".config") {
			dir = path.Dir(dir)
		}
		for _, glob := range own {
			lists = append(lists, []string{path.Join(dir, glob)})
		}
	}
	return lists
}

// arrayGlobs returns a list of globs for each object of JavaScript code that has some. An exclude array counts for the
// object that it stands in, or for the runner's own globs if no object has others; what the code computes counts as the runner's own
// globs.
func arrayGlobs(code string, own []string) [][]string {
	const maxArrays = 50
	type object struct {
		in, out []string
	}
	objects := make(map[int]*object)
	var order []int
	for _, m := range globValue().FindAllStringSubmatchIndex(code, maxArrays) {
		value := valueAt(code, m[1])
		if value == "" {
			continue
		}
		at := openBrace(code[:m[0]])
		o := objects[at]
		if o == nil {
			o = new(object)
			objects[at] = o
			order = append(order, at)
		}
		globs := quotedStrings(value)
		if key := code[m[2]:m[3]]; key == "exclude" || key == "testIgnore" {
			for _, glob := range globs {
				o.out = append(o.out, "!"+glob)
			}
			continue
		}
		o.in = append(o.in, globs...)
		o.in = append(o.in, ownIfComputed(value, own)...)
	}
	var lists [][]string
	var out []string
	for _, at := range order {
		o := objects[at]
		out = append(out, o.out...)
		if len(o.in) > 0 {
			lists = append(lists, append(slices.Clone(o.in), o.out...))
		}
	}
	if len(lists) == 0 && len(out) > 0 {
		lists = append(lists, append(slices.Clone(own), out...))
	}
	return lists
}

// ownIfComputed returns the runner's own globs if an array has elements other than string literals.
func ownIfComputed(array string, own []string) []string {
	rest := quotedText().ReplaceAllString(array, "")
	if strings.Trim(rest, "[], \t\r\n") == "" {
		return nil
	}
	return own
}

// literalEnd returns the offset after the string literal that begins at an offset of JavaScript code, the offset itself if none does.
func literalEnd(code string, at int) int {
	quote := code[at]
	if quote != '\'' && quote != '"' && quote != '`' {
		return at
	}
	for i := at + 1; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == quote:
			return i + 1
		case code[i] == '\n' && quote != '`':
			return i
		}
	}
	return len(code)
}

// withoutComments returns JavaScript code without its comments.
func withoutComments(code string) string {
	var b strings.Builder
	for i := 0; i < len(code); {
		end := literalEnd(code, i)
		switch {
		case end > i:
			b.WriteString(code[i:end])
		case strings.HasPrefix(code[i:], "//"):
			end = len(code)
			if n := strings.IndexByte(code[i:], '\n'); n >= 0 {
				end = i + n
			}
		case strings.HasPrefix(code[i:], "/*"):
			end = len(code)
			if n := strings.Index(code[i+2:], "*/"); n >= 0 {
				end = i + 2 + n + 2
			}
		default:
			end = i + 1
			b.WriteByte(code[i])
		}
		i = end
	}
	return b.String()
}

// valueAt returns the array or string literal that begins at an offset of JavaScript code, "" if none does.
func valueAt(code string, at int) string {
	if at >= len(code) {
		return ""
	}
	if code[at] != '[' {
		return code[at:literalEnd(code, at)]
	}
	depth := 0
	for i := at; i < len(code); {
		switch code[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			return code[at : i+1]
		}
		i = max(literalEnd(code, i), i+1)
	}
	return ""
}

// withoutObjects returns JavaScript code with a brace in place of each object.
func withoutObjects(code string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(code); {
		end := max(literalEnd(code, i), i+1)
		switch {
		case code[i] == '{':
			if depth == 0 {
				b.WriteByte('{')
			}
			depth++
		case code[i] == '}':
			depth--
		case depth == 0:
			b.WriteString(code[i:end])
		}
		i = end
	}
	return b.String()
}

// openBrace returns the offset of the last brace in code that is not closed again, -1 for none.
func openBrace(code string) int {
	depth := 0
	for i := len(code) - 1; i >= 0; i-- {
		switch code[i] {
		case '}':
			depth++
		case '{':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// directoryGlobs makes a directory stand for the files in it.
func directoryGlobs(globs []string) []string {
	out := make([]string, len(globs))
	for i, glob := range globs {
		if !strings.Contains(path.Base(glob), ".") && !strings.Contains(path.Base(glob), "*") {
			glob += "/**"
		}
		out[i] = glob
	}
	return out
}

// quotedStrings returns the string literals of JavaScript code.
func quotedStrings(code string) []string {
	var list []string
	for _, m := range quotedText().FindAllStringSubmatch(code, -1) {
		list = append(list, strings.ReplaceAll(m[1]+m[2]+m[3], `\\`, `\`))
	}
	return list
}

// dropBlock removes the first object of a name from JavaScript code.
func dropBlock(code, name string) string {
	i := strings.Index(code, name+":")
	if i < 0 {
		return code
	}
	open := strings.IndexByte(code[i:], '{')
	if open < 0 || strings.TrimSpace(code[i+len(name)+1:i+open]) != "" {
		return code
	}
	depth := 0
	for j := i + open; j < len(code); j++ {
		switch code[j] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return code[:i] + code[j+1:]
		}
	}
	return code[:i]
}

// How well a run fits a file.
const (
	fitNone    = iota
	fitDefault // by the patterns of the runner or its configuration
	fitNamed   // by a file, directory or glob in the script
)

// fits reports how well a run fits a file, given from the package's directory.
func (run *testRun) fits(file string) int {
	if len(run.files) > 0 {
		if run.named.match(file) {
			return fitNamed
		}
		return fitNone
	}
	if slices.ContainsFunc(run.patterns, func(t testPattern) bool { return t.match(file) }) {
		return fitDefault
	}
	return fitNone
}

// nodeTest returns the command that runs one JavaScript test file.
func (p *Project) nodeTest(test repo.Path) (Command, bool, string) {
	var excluded repo.Path
	for d := range upward(test.Dir()) {
		pkg := p.nodePackage(d)
		if pkg == nil {
			continue
		}
		rel, _ := relative(d, test)
		if run, reached := p.bestRun(pkg, rel); run != nil {
			return p.oneFile(pkg, run, test), true, pkg.missed(run, reached)
		}
		// A runner with a list of files in its configuration refuses others; one that a script gives files to
		// takes any.
		var spare *testRun
		for _, run := range p.testRuns(pkg) {
			switch {
			case !compileGlobs(run.runner.patterns).match(rel):
			case run.config != "" && excluded == "":
				excluded = run.config
			case len(run.files) > 0 && run.config == "" && slices.Contains(pkg.reach("test", nil), run.script):
				spare = &run
			}
		}
		if spare != nil && excluded == "" {
			note := pkg.script("test") + " runs " + cleanText(strings.Join(spare.files, " ")) + " only"
			return p.oneFile(pkg, spare, test), true, note
		}
	}
	if excluded != "" {
		return Command{}, false, excluded.String() + " does not include this file"
	}
	return Command{}, false, "no package.json says which program runs it"
}

// bestRun returns the run that fits a file best, and the scripts that the test script calls.
func (p *Project) bestRun(pkg *nodePackage, rel string) (*testRun, []string) {
	reached := pkg.reach("test", nil)
	var best *testRun
	bestRank := 0
	runs := p.testRuns(pkg)
	for i := range runs {
		run := &runs[i]
		fit := run.fits(rel)
		if fit == fitNone {
			continue
		}
		rank := fit * 10
		if slices.Contains(reached, run.script) {
			rank += 2
		}
		if run.script == "test" {
			rank += 2
		}
		if run.script != "" {
			rank++
		}
		for _, f := range run.flags {
			if f == "--project" || strings.HasPrefix(f, "--project=") {
				rank -= 3 // only a part of the configuration
			}
		}
		if rank > bestRank || rank == bestRank && run.extras() < best.extras() {
			best, bestRank = run, rank
		}
	}
	return best, reached
}

// extras returns how much a run adds to the plain call of its runner. Variables and a configuration of its own count more than
// other flags.
func (run *testRun) extras() int {
	const more = 100
	n := more*len(run.env) + len(run.flags) - len(run.runner.start)
	if run.flag("-c", "--config") != "" {
		n += more
	}
	return n
}

// missed says that the test script does not run what run does, or that run takes more files; "" if all is as expected.
func (k *nodePackage) missed(run *testRun, reached []string) string {
	if run.runner.name == "mocha" && run.config != "" {
		return run.config.String() + " makes mocha run other files too"
	}
	if _, ok := k.scripts["test"]; !ok || slices.Contains(reached, run.script) {
		return ""
	}
	if run.script == "" {
		return k.script("test") + " may not run this file"
	}
	return k.script("test") + " does not run this file, " + k.script(run.script) + " does"
}

// reach returns a script and the scripts that it calls, by whatever package manager.
func (k *nodePackage) reach(name string, seen []string) []string {
	if _, ok := k.scripts[name]; !ok || slices.Contains(seen, name) {
		return seen
	}
	seen = append(seen, name)
	for _, c := range splitShell(k.scripts[name]) {
		for _, w := range toolOf(c.words) {
			for other := range k.scripts {
				// run-s and npm-run-all take patterns such as test:*.
				pattern := strings.TrimSuffix(w, "*")
				if other == w || pattern != w && pattern != "" && strings.HasPrefix(other, pattern) {
					if callsScripts(c.words) {
						seen = k.reach(other, seen)
					}
				}
			}
		}
	}
	return seen
}

// callsScripts reports whether a command calls scripts of the package.
func callsScripts(words []string) bool {
	tool := toolOf(words)
	if len(tool) == 0 {
		return false
	}
	switch path.Base(tool[0]) {
	case "bun":
		return len(tool) > 1 && tool[1] != "test"
	case "npm", "pnpm", "yarn", "run-s", "run-p", "npm-run-all", "concurrently", "wireit", "turbo", "nps":
		return true
	}
	return false
}

// oneFile returns the command by which a run tests one file only.
func (p *Project) oneFile(pkg *nodePackage, run *testRun, test repo.Path) Command {
	rel, _ := relative(pkg.dir, test)
	if run.runner.exact || strings.HasPrefix(rel, "-") {
		rel = "./" + rel
	}
	words := slices.Clone(run.env)
	if !run.runner.builtin {
		words = append(words, map[string][]string{"npm": {"npx"}, "pnpm": {"pnpm", "exec"}, "yarn": {"yarn"}, "bun": {"bunx"}}[pkg.manager]...)
	}
	words = append(words, run.flags...)
	switch {
	case run.runner.fileFlag != "":
		words = append(words, run.runner.fileFlag)
	case run.runner.name == "jest" && strings.ContainsAny(rel, `[](){}+*?^$|\`):
		words = append(words, "--runTestsByPath") // else the name would be a regular expression
	}
	words = append(words, rel)
	return Command{Run: inDir(pkg.dir, quoteWords(words)), Dir: pkg.dir, Source: run.source, Line: run.line}
}
