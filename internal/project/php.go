package project

import (
	"strings"

	"ken/internal/repo"
)

// phpCommands adds composer's scripts and the configured tools.
func (p *Project) phpCommands(dir repo.Path, add func(candidate)) {
	file := p.firstFile(dir, "composer.json")
	doc := p.document(file)
	tool := "composer"
	if dir != "" {
		tool += " -d " + quotePath(dir)
	}
	for _, name := range keysOf(doc, "scripts") {
		use, order, ok := purposeOf(name)
		if !ok || !isName(name) {
			continue
		}
		add(candidate{
			Command: Command{Run: tool + " " + name, Source: file, Line: jsonLine(p.text(file), "scripts", name)},
			purpose: use, lang: "php", key: "composer:" + name, order: order,
		})
	}
	if run, source := p.phpRunner(dir); source != "" {
		add(candidate{
			Command: Command{Run: run, in: dir, Source: source},
			purpose: forTest, lang: "php", key: strings.TrimPrefix(run, "vendor/bin/"), order: orderImplied,
		})
	}
}

// phpRunner returns the program that runs the tests of a directory, and the file that shows it.
func (p *Project) phpRunner(dir repo.Path) (string, repo.Path) {
	file := p.firstFile(dir, "composer.json")
	doc := p.document(file)
	for _, group := range []string{"require-dev", "require"} {
		if doc.Has(group, "pestphp/pest") {
			return "vendor/bin/pest", file
		}
	}
	if conf := p.firstFile(dir, "phpunit.xml", "phpunit.xml.dist"); conf != "" {
		return "vendor/bin/phpunit", conf
	}
	if doc.Has("require-dev", "phpunit/phpunit") {
		return "vendor/bin/phpunit", file
	}
	return "", ""
}

// phpTest returns the command that runs one PHP test file.
func (p *Project) phpTest(test repo.Path) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		run, source := p.phpRunner(d)
		if source == "" {
			continue
		}
		rel, _ := relative(d, test)
		return Command{Run: run + " " + quotePath(repo.Path(rel)), in: d, Dir: d, Source: source}, true, ""
	}
	return Command{}, false, "no file says which program runs it"
}
