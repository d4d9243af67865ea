package project

import (
	"path"
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
	// borp runs the given file with the runner of node, and also a list of files in its configuration.
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
	for _, name := range sortedKeys(pkg.scripts) {
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

// takesValue reports whether the value of a flag is the next word.
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
	for d := range test.Dir().Upward() {
		pkg := p.nodePackage(d)
		if pkg == nil {
			continue
		}
		rel, _ := relative(d, test)
		if run, reached := p.bestRun(pkg, rel); run != nil {
			return p.oneFile(pkg, run, test), true, pkg.testScriptNote(run, reached)
		}
		// A runner with a list of files in its configuration refuses others; one that a script gives files to
		// takes any.
		var spare *testRun
		for _, run := range p.testRuns(pkg) {
			switch {
			case !compileGlobs(run.runner.patterns).match(rel):
			case run.config != "" && excluded == "":
				excluded = run.config
			case len(run.files) > 0 && run.config == "" && slices.Contains(pkg.calledScripts("test", nil), run.script):
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
	reached := pkg.calledScripts("test", nil)
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

// testScriptNote returns a note if the test script does not run the file, or if the command runs more files; "" otherwise.
func (k *nodePackage) testScriptNote(run *testRun, reached []string) string {
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

// calledScripts returns a script and the scripts that it calls, with any package manager.
func (k *nodePackage) calledScripts(name string, seen []string) []string {
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
						seen = k.calledScripts(other, seen)
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
