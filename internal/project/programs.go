package project

import (
	"regexp"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// runCommands adds the programs of a Python, Ruby or JavaScript package. Other languages add theirs with their builds.
func (p *Project) runCommands(dir repo.Path, add func(candidate)) {
	offer := func(run string, source repo.Path, line int, lang string, order int) {
		add(candidate{
			Command: Command{Run: run, in: dir, Source: source, Line: line},
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
