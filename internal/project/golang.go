package project

import (
	"bytes"
	"go/build/constraint"
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// goCommands adds the commands of the go tool in a module.
func (p *Project) goCommands(dir repo.Path, add func(candidate)) {
	mod := p.goMod(dir)
	if mod == nil || mod.Line == 0 {
		return
	}
	tool, all := p.goTool(dir)
	order := orderImplied
	if dir == "" && len(p.goWorkUses()) > 1 {
		order = orderVariant + 2 // only one of the modules
	}
	implied := func(use purpose, verb, what string) {
		add(candidate{
			Command: Command{Run: tool(verb) + " " + what, Source: join(dir, "go.mod"), Line: mod.Line},
			purpose: use, lang: "go", key: "go " + verb, order: order,
		})
	}
	implied(forBuild, "build", all)
	implied(forTest, "test", all)
	// If there are many programs, the task decides which one to run.
	const maxMains = 5
	mains := slices.DeleteFunc(p.goMainFiles(dir), func(main repo.Path) bool {
		return p.goModule(main) != dir || mainRank(main) >= rankSide
	})
	if len(mains) <= 3*maxMains {
		mains = p.mainPackages(mains)
	}
	if len(mains) > maxMains {
		mains = nil
	}
	for _, main := range mains {
		rel := p.goPackage(dir, main.Dir())
		add(candidate{
			Command: Command{Run: tool("run") + " " + rel, Source: main, Line: lineOf(p.text(main), `^package\s+main\b`)},
			purpose: forRun, lang: "go", key: "go run", order: orderImplied,
		})
	}
}

// goTool returns how the go tool is called for a module, and the pattern of all its packages. A module of
// the workspace at the root is named from there; another one needs the tool to start in it.
func (p *Project) goTool(dir repo.Path) (tool func(verb string) string, all string) {
	if dir == "" {
		return func(verb string) string { return "go " + verb }, "./..."
	}
	if p.inGoWork(dir) {
		return func(verb string) string { return "go " + verb }, quoteWord("./" + string(dir) + "/...")
	}
	alone := ""
	if p.has("go.work") {
		alone = "GOWORK=off " // else the go tool knows only the modules of the workspace
	}
	return func(verb string) string { return alone + "go -C " + quotePath(dir) + " " + verb }, "./..."
}

// goPackage returns the argument that names the package in a directory of a module.
func (p *Project) goPackage(module, dir repo.Path) string {
	if p.inGoWork(module) {
		module = ""
	}
	rel, _ := relative(module, dir)
	if rel == "" {
		return "."
	}
	return quoteWord("./" + rel)
}

// inGoWork reports whether the workspace at the root uses the module in a directory.
func (p *Project) inGoWork(dir repo.Path) bool {
	return slices.Contains(p.goWorkUses(), dir)
}

// goWorkUses returns the directories of the modules that the workspace at the root uses.
func (p *Project) goWorkUses() []repo.Path {
	file := repo.Path("go.work")
	text := p.text(file)
	if text == nil {
		return nil
	}
	work, err := manifest.ParseGoWorkspace(text)
	if err != nil {
		p.skipped[file] = cleanText(err.Error())
		return nil
	}
	var dirs []repo.Path
	for _, use := range work.Use {
		dirs = append(dirs, join("", use))
	}
	return dirs
}

// goMod returns the go.mod of a directory, nil if it has none that can be read.
func (p *Project) goMod(dir repo.Path) *manifest.GoModule {
	if mod, ok := p.goMods[dir]; ok {
		return mod
	}
	file := p.firstFile(dir, "go.mod")
	text := p.text(file)
	if text == nil {
		return nil
	}
	mod, err := manifest.ParseGoModule(text)
	if err != nil {
		p.skipped[file] = cleanText(err.Error())
	}
	p.goMods[dir] = mod
	return mod
}

// goModule returns the directory of the module that a file belongs to.
func (p *Project) goModule(file repo.Path) repo.Path {
	for d := range file.Dir().Upward() {
		if p.has(join(d, "go.mod")) {
			return d
		}
	}
	return ""
}

// goTest returns the command that runs the package of a test file.
func (p *Project) goTest(test repo.Path) (Command, bool, string) {
	module := p.goModule(test)
	mod := p.goMod(module)
	if mod == nil || mod.Line == 0 {
		return Command{}, false, "no go.mod above it"
	}
	tool, _ := p.goTool(module)
	run := tool("test")
	tags, only := p.goBuildTags(test)
	note := ""
	if len(tags) > 0 {
		run += " -tags " + strings.Join(tags, ",")
		note = "go test without -tags " + strings.Join(tags, ",") + " does not run this file"
	}
	if only != "" {
		note = "the file is only built for " + only
	}
	run += " " + p.goPackage(module, test.Dir())
	return Command{Run: run, Dir: module, Source: join(module, "go.mod"), Line: mod.Line}, true, note
}

// goBuildTags returns the tags that a file needs, or the constraint that no tags can meet.
func (p *Project) goBuildTags(file repo.Path) (tags []string, only string) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(file.Base(), ".go"), "_test"), "_")
	for i := len(parts) - 1; i > 0 && isSystemName(parts[i]); i-- {
		if parts[i] != "linux" && parts[i] != "amd64" {
			return nil, parts[i]
		}
	}
	expr := goConstraint(p.text(file))
	if expr == nil {
		return nil, ""
	}
	var own, systems []string
	for _, tag := range constraintTags(expr) {
		switch {
		case isSystemTag(tag):
			systems = append(systems, tag)
		case !strings.HasPrefix(tag, "go1.") && isName(tag) && !slices.Contains(own, tag):
			own = append(own, tag)
		}
	}
	holds := func(set ...string) bool {
		return expr.Eval(func(tag string) bool {
			return tag == "linux" || tag == "unix" || tag == "amd64" || tag == "gc" || tag == "cgo" ||
				strings.HasPrefix(tag, "go1.") || slices.Contains(set, tag)
		})
	}
	if holds() {
		return nil, ""
	}
	for _, tag := range own {
		if holds(tag) {
			return []string{tag}, ""
		}
	}
	if holds(own...) {
		return own, ""
	}
	if len(systems) > 0 {
		return nil, cleanText(expr.String())
	}
	return nil, ""
}

// goConstraint returns the build constraint of a Go file, nil for none.
func goConstraint(text []byte) constraint.Expr {
	for line := range bytes.Lines(text) {
		s := strings.TrimSpace(string(line))
		if constraint.IsGoBuild(s) {
			expr, err := constraint.Parse(s)
			if err != nil {
				return nil
			}
			return expr
		}
		if strings.HasPrefix(s, "package ") {
			break
		}
	}
	return nil
}

// constraintTags lists the tags of a constraint.
func constraintTags(expr constraint.Expr) []string {
	switch e := expr.(type) {
	case *constraint.TagExpr:
		return []string{e.Tag}
	case *constraint.NotExpr:
		return constraintTags(e.X)
	case *constraint.AndExpr:
		return append(constraintTags(e.X), constraintTags(e.Y)...)
	case *constraint.OrExpr:
		return append(constraintTags(e.X), constraintTags(e.Y)...)
	}
	return nil
}

// isSystemName reports whether the name of a file that ends with a word says on which system it is built.
func isSystemName(word string) bool {
	switch word {
	case "unix", "gc", "gccgo", "cgo", "race", "ignore":
		return false
	}
	return isSystemTag(word)
}

// isSystemTag reports whether a tag names a system or compiler, so that it cannot be set.
func isSystemTag(tag string) bool {
	switch tag {
	case "linux", "darwin", "windows", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "illumos", "aix", "plan9", "android", "ios", "js", "wasip1", "unix",
		"amd64", "386", "arm", "arm64", "ppc64", "ppc64le", "s390x", "mips", "mipsle", "mips64", "mips64le", "riscv64", "loong64", "wasm", "gc", "gccgo", "cgo", "race", "ignore":
		return true
	}
	return false
}

// goMainFiles returns the files below a directory that may be of a main package, one of each: main.go, or a file in a
// directory below cmd.
func (p *Project) goMainFiles(dir repo.Path) []repo.Path {
	var mains []repo.Path
	for _, f := range p.filesUnder(dir, len(p.files)) {
		if !strings.HasSuffix(string(f), ".go") || strings.HasSuffix(string(f), "_test.go") {
			continue
		}
		base := f.Base()
		if base != "main.go" && f.Dir().Dir().Base() != "cmd" || isForeign(f) {
			continue
		}
		// Files are sorted, so those of one directory follow each other.
		other := len(mains) > 0 && mains[len(mains)-1].Dir() == f.Dir()
		if base != "main.go" && (other || p.has(join(f.Dir(), "main.go"))) {
			continue
		}
		mains = append(mains, f)
	}
	slices.SortStableFunc(mains, func(a, b repo.Path) int { return mainRank(a) - mainRank(b) })
	return mains
}

// mainPackages returns those of the files that are of a main package.
func (p *Project) mainPackages(files []repo.Path) []repo.Path {
	return slices.DeleteFunc(files, func(f repo.Path) bool {
		text := p.text(f)
		expr := goConstraint(text)
		return !goMain().Match(text) || expr != nil && slices.Contains(constraintTags(expr), "ignore")
	})
}

var goMain = lazyRegexp(`(?m)^package\s+main\b`)

// rankSide is the rank from which on a program is a tool or an example.
const rankSide = 20

// mainRank puts programs before examples and tools, and those near the root first.
func mainRank(file repo.Path) int {
	rank := strings.Count(string(file), "/")
	for elem := range strings.SplitSeq(string(file.Dir()), "/") {
		switch elem {
		case "cmd":
			return rank - 1 // the next element is the name of the program
		case "example", "examples", "_examples", "demo", "sample", "samples", "benchmark", "benchmarks", "bench":
			rank += 2 * rankSide
		case "tools", "tool", "hack", "scripts", "script", "internal", "test", "tests", "contrib", "ci", "docs", "build", "e2e":
			rank += rankSide
		}
	}
	return rank
}
