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
	takes  testFiles
}

// A nodeRunner is a program that runs JavaScript tests.
type nodeRunner struct {
	name     string
	start    []string // the words that run tests once, without the name of a package manager
	patterns []string // the files that it runs if it is told none
	include  string   // the setting that lists the files to run
	exclude  string   // the setting that lists files not to run
	dirs     string   // the setting that names directories with the files
	drop     []string // flags that do not belong to a run of one file
	fileFlag string   // goes before the file, if it needs one
	configs  []string // the names of its configuration file, without the extension
	needs    string   // the argument without which a call is not one of its test runner
	imply    string   // the dependency that shows that a package uses it
	builtin  bool     // needs no package manager
	exact    bool     // a name without ./ would be a filter
	nameFlag string   // goes before the title of a test, or before an expression for several
}

const jsExt = `?(c|m)[jt]s?(x)`

var nodeRunners = []*nodeRunner{
	{
		name: "vitest", start: []string{"vitest", "run"}, imply: "vitest", nameFlag: "-t",
		drop:     []string{"run", "watch", "--run", "--watch", "-w", "--coverage", "--ui", "--coverage.enabled"},
		patterns: []string{"**/*.{test,spec}." + jsExt},
		configs:  []string{"vitest.config", "vite.config"}, include: "include", exclude: "exclude",
	},
	{
		name: "jest", start: []string{"jest"}, imply: "jest", nameFlag: "-t",
		drop:     []string{"--watch", "--watchAll", "--coverage", "--collectCoverage"},
		patterns: []string{"**/__tests__/**/*." + jsExt, "**/?(*.)+(spec|test)." + jsExt},
		configs:  []string{"jest.config"}, include: "testMatch", dirs: "roots",
	},
	{
		name: "playwright", start: []string{"playwright", "test"}, needs: "test", imply: "@playwright/test", nameFlag: "-g",
		drop:     []string{"test", "--ui"},
		patterns: []string{"**/*.@(spec|test)." + jsExt},
		configs:  []string{"playwright.config"}, include: "testMatch", exclude: "testIgnore", dirs: "testDir",
	},
	{
		name: "cypress", start: []string{"cypress", "run"}, imply: "cypress", fileFlag: "--spec",
		drop:     []string{"run", "open"},
		patterns: []string{"cypress/e2e/**/*.cy.{js,jsx,ts,tsx}"},
		configs:  []string{"cypress.config"}, include: "specPattern",
	},
	{
		name: "mocha", start: []string{"mocha"}, imply: "mocha", nameFlag: "-g",
		drop:     []string{"--watch", "-w", "--recursive"},
		patterns: []string{"test/*.{js,cjs,mjs}"},
		configs:  []string{".mocharc"}, include: "spec",
	},
	{
		name: "ts-mocha", start: []string{"ts-mocha"}, imply: "ts-mocha", nameFlag: "-g",
		drop:     []string{"--watch", "-w", "--recursive"},
		patterns: []string{"test/*.ts"},
	},
	{
		name: "ava", start: []string{"ava"}, imply: "ava",
		drop: []string{"--watch", "-w"},
		patterns: []string{
			"test.js", "src/test.js", "**/test-*.js", "**/*.{spec,test}.{js,cjs,mjs,ts}",
			"**/{test,tests,__tests__}/**/*.{js,cjs,mjs,ts}",
		},
		configs: []string{"ava.config"}, include: "files",
	},
	{
		name: "tap", start: []string{"tap"},
		drop:     []string{"--watch"},
		patterns: []string{"**/{test,tests,__tests__}/**/*." + jsExt, "**/*.{test,spec}." + jsExt},
	},
	{name: "tape", start: []string{"tape"}},
	{name: "jasmine", start: []string{"jasmine"}, imply: "jasmine", patterns: []string{"spec/**/*[sS]pec.?(m)js"}},
	{name: "qunit", start: []string{"qunit"}, patterns: []string{"test/**/*.js"}},
	{
		name: "react-scripts", start: []string{"react-scripts", "test", "--watchAll=false"}, nameFlag: "-t",
		needs: "test", imply: "react-scripts",
		drop:     []string{"test", "--watchAll", "--watchAll=false"},
		patterns: []string{"src/**/__tests__/**/*.{js,jsx,ts,tsx}", "src/**/*.{spec,test}.{js,jsx,ts,tsx}"},
	},
	{
		name: "node", start: []string{"node", "--test"}, needs: "--test", builtin: true, nameFlag: "--test-name-pattern",
		drop: []string{"--test", "--watch", "--experimental-test-coverage"},
		patterns: []string{
			"**/*{.,-,_}test.{js,cjs,mjs,ts,cts,mts}", "**/test-*.{js,cjs,mjs,ts,cts,mts}", "**/test.{js,cjs,mjs,ts,cts,mts}",
			"**/test/**/*.{js,cjs,mjs,ts,cts,mts}",
		},
	},
	// borp runs the given file with the runner of node, and also a list of files in its configuration.
	{
		name: "borp", start: []string{"node", "--test"}, imply: "borp", builtin: true,
		patterns: []string{"**/*.test.{js,cjs,mjs}"},
	},
	{
		name: "tsx", start: []string{"tsx", "--test"}, needs: "--test", nameFlag: "--test-name-pattern",
		drop:     []string{"--test", "--watch"},
		patterns: []string{"**/*{.,-,_}test.{js,cjs,mjs,ts,cts,mts,tsx}"},
	},
	{
		name: "bun", start: []string{"bun", "test"}, needs: "test", builtin: true, exact: true, nameFlag: "-t",
		drop:     []string{"test", "--watch", "--coverage"},
		patterns: []string{"**/*{.,_}{test,spec}." + jsExt},
	},
	{
		name: "deno", start: []string{"deno", "test"}, needs: "test", builtin: true, nameFlag: "--filter",
		drop:     []string{"test", "--watch"},
		patterns: []string{"**/?(*[._])test.{ts,tsx,mts,js,mjs,jsx}", "**/__tests__/**/*.{ts,tsx,mts,js,mjs,jsx}"},
	},
}

// runnerNamed returns a runner, nil if there is none of that name.
func runnerNamed(name string) *nodeRunner {
	i := slices.IndexFunc(nodeRunners, func(r *nodeRunner) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return nodeRunners[i]
}

// isCalledWith reports whether a call with some arguments runs tests. A flag may be anywhere, a subcommand comes first.
func (r *nodeRunner) isCalledWith(args []string) bool {
	if !strings.HasPrefix(r.needs, "-") {
		args = args[:min(len(args), 1)]
	}
	return r.needs == "" || slices.Contains(args, r.needs)
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
		run.takes = p.testFiles(pkg, &run)
		pkg.runs = append(pkg.runs, run)
	}
	return pkg.runs
}

// impliedBy returns the configuration file or dependency that shows that a package uses a runner.
func (p *Project) impliedBy(pkg *nodePackage, r *nodeRunner) (repo.Path, int) {
	if conf := p.runnerConfig(pkg.dir, r); conf != "" {
		return conf, 0
	}
	for _, keys := range [][]string{{r.name}, {"devDependencies", r.imply}, {"dependencies", r.imply}} {
		if r.imply != "" && pkg.doc.Has(keys...) {
			return pkg.file, jsonLine(pkg.text, keys...)
		}
	}
	return "", 0
}

// runnerConfig returns the configuration file of a runner in a directory, "" for none. A name with another word before
// the extension, as in vitest.config.e2e.ts, is only read by a run that names it.
func (p *Project) runnerConfig(dir repo.Path, r *nodeRunner) repo.Path {
	for _, name := range r.configs {
		for _, f := range p.manifests[dir] {
			forOther := name == "vite.config" && !strings.Contains(string(p.text(f)), "vitest")
			if strings.TrimSuffix(f.Base(), path.Ext(f.Base())) == name && !forOther {
				return f
			}
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
	args := tool[1:]
	run.runner = runnerNamed(path.Base(tool[0]))
	if run.runner == nil || !run.runner.isCalledWith(args) {
		return run, false
	}
	if run.runner.name == "borp" {
		args = nil // its flags are not those of node
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
	run.takes = p.testFiles(pkg, &run)
	return run, true
}

// takesValue reports whether the value of a flag is the next word.
func takesValue(flag string) bool {
	switch flag {
	case "-c", "--config", "--configLoader", "-p", "--project", "-r", "--require", "--import", "--loader",
		"--experimental-loader", "--tsconfig", "--jsx-import-source", "--root", "--dir", "--reporter", "--timeout", "-t",
		"--testTimeout", "--environment", "--env", "--pool", "--preload", "--ui", "--test-name-pattern", "--test-reporter",
		"--maxWorkers", "-w":
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

// nodeTest returns the command that runs one JavaScript test file.
func (p *Project) nodeTest(test repo.Path) (Command, bool, string) {
	var excluded repo.Path
	for d := range test.Dir().Upward() {
		pkg := p.nodePackage(d)
		if pkg == nil {
			continue
		}
		rel, _ := relative(d, test)
		run, fit := p.bestRun(pkg, rel)
		switch {
		case fit == fitUnknown:
			return Command{}, false, "see " + run.takes.config.String()
		case run != nil:
			return p.oneFile(pkg, run, test), true, pkg.testScriptNote(run)
		}
		reached := pkg.calledScripts("test", nil)
		for _, run := range p.testRuns(pkg) {
			switch {
			case excluded != "" || !compileGlobs(run.runner.patterns).match(rel):
			case run.takes.config != "":
				excluded = run.takes.config
			case run.takes.named && slices.Contains(reached, run.script): // its runner takes any file
				note := pkg.script("test") + " runs " + cleanText(strings.Join(run.files, " ")) + " only"
				return p.oneFile(pkg, &run, test), true, note
			}
		}
	}
	if excluded != "" {
		return Command{}, false, excluded.String() + " does not include this file"
	}
	return Command{}, false, "no package.json says which program runs it"
}

// bestRun returns the run that fits a file best, nil for none. Runs that the test script calls come first.
func (p *Project) bestRun(pkg *nodePackage, rel string) (best *testRun, bestFit fit) {
	reached := pkg.calledScripts("test", nil)
	bestRank := 0
	runs := p.testRuns(pkg)
	for i := range runs {
		run := &runs[i]
		fit := run.takes.fit(rel)
		if fit == fitNone {
			continue
		}
		rank := 20
		if fit == fitNamed {
			rank += 20
		}
		if slices.Contains(reached, run.script) {
			rank += 4
		}
		if run.script == "test" {
			rank += 4
		}
		if run.script != "" {
			rank += 2
		}
		if run.flag("--project") != "" {
			rank -= 6 // only a part of the configuration
		}
		if fit == fitUnknown {
			rank--
		}
		if rank > bestRank || rank == bestRank && run.extras() < best.extras() {
			best, bestFit, bestRank = run, fit, rank
		}
	}
	return best, bestFit
}

// extras returns how much a run adds to the plain call of its runner. Variables and a configuration of its own count
// more than other flags.
func (run *testRun) extras() int {
	const more = 100
	n := more*len(run.env) + len(run.flags) - len(run.runner.start)
	if run.flag("-c", "--config") != "" {
		n += more
	}
	return n
}

// testScriptNote returns a note if the test script does not run the file, or if the command runs more files; ""
// otherwise.
func (k *nodePackage) testScriptNote(run *testRun) string {
	if run.runner.name == "mocha" && run.takes.config != "" {
		return run.takes.config.String() + " makes mocha run other files too"
	}
	if _, ok := k.scripts["test"]; !ok || slices.Contains(k.calledScripts("test", nil), run.script) {
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
		if !callsScripts(c.words) {
			continue
		}
		for _, w := range toolOf(c.words) {
			// run-s and npm-run-all take patterns such as test:*.
			prefix, isPattern := strings.CutSuffix(w, "*")
			for other := range k.scripts {
				matches := isPattern && prefix != "" && strings.HasPrefix(other, prefix)
				if other == w || matches {
					seen = k.calledScripts(other, seen)
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
		launchers := map[string][]string{"npm": {"npx"}, "pnpm": {"pnpm", "exec"}, "yarn": {"yarn"}, "bun": {"bunx"}}
		words = append(words, launchers[pkg.manager]...)
	}
	words = append(words, run.flags...)
	switch {
	case run.runner.fileFlag != "":
		words = append(words, run.runner.fileFlag)
	case run.runner.name == "jest" && strings.ContainsAny(rel, `[](){}+*?^$|\`):
		words = append(words, "--runTestsByPath") // else the name would be a regular expression
	}
	words = append(words, rel)
	return Command{Run: quoteWords(words), in: pkg.dir, Dir: pkg.dir, Source: run.source, Line: run.line}
}
