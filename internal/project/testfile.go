package project

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// ForTests reports whether a file is only for tests: by its name or place ([repo.Path.ForTests]), or because the
// settings of the project make a runner start it.
func (p *Project) ForTests(file repo.Path) bool { return file.ForTests() || p.IsTest(file) }

// IsTest reports whether a runner starts a file: by its name, or by the patterns in the manifests above it. Helpers,
// fixtures and data of tests are for tests, and no runner starts them.
func (p *Project) IsTest(file repo.Path) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isTest(file)
}

func (p *Project) isTest(file repo.Path) bool {
	if isForeign(file) || inDirNamed(file, "__mocks__", "__snapshots__") {
		return false
	}
	switch languageOf(file) {
	case "js":
		return file.IsTest() || file.ForTests() && p.isNodeTest(file)
	case "rust":
		return file.ForTests() && p.isRustTest(file)
	case "python":
		return p.isPythonTest(file)
	}
	return file.IsTest()
}

// isNodeTest reports whether a script or the configuration of the package runs a JavaScript file as a test.
func (p *Project) isNodeTest(file repo.Path) bool {
	switch path.Ext(strings.TrimSuffix(file.Base(), path.Ext(file.Base()))) {
	case ".d", ".config", ".snap":
		return false
	}
	if inDirNamed(file, "helpers", "utils", "support", "mocks") {
		return false
	}
	for d := range file.Dir().Upward() {
		pkg := p.nodePackage(d)
		if pkg == nil {
			continue
		}
		rel, _ := relative(d, file)
		for _, run := range p.testRuns(pkg) {
			if run.takes.fit(rel) != fitNone {
				return true
			}
		}
		return false
	}
	return false
}

// isRustTest reports whether a Rust file is an integration test or contains tests.
func (p *Project) isRustTest(file repo.Path) bool {
	if rustTestMark().Match(p.text(file)) {
		return true
	}
	for d := range file.Dir().Upward() {
		if p.has(join(d, "Cargo.toml")) {
			return slices.ContainsFunc(p.cargoTests(d), func(t cargoTarget) bool { return t.file == file })
		}
	}
	return false
}

// inDirNamed reports whether a file is below a directory with one of the names.
func inDirNamed(file repo.Path, names ...string) bool {
	dir := string(file.Dir())
	for elem := range strings.SplitSeq(dir, "/") {
		for _, name := range names {
			if elem == name && dir != "" {
				return true
			}
		}
	}
	return false
}

// TestCommand returns the command that runs one test file, or the smallest package or target that contains it. The text
// says why there is none, or that the project's usual test command does not run this file. A file of a
// Rust library or program counts as a test if it contains tests.
func (p *Project) TestCommand(test repo.Path) (Command, bool, string) {
	cmd, ok, note := p.fileCommand(test)
	if !ok {
		return Command{}, false, note
	}
	cmd, ok = cmd.atRoot()
	if !ok {
		return Command{}, false, "its name cannot be shown on one line"
	}
	return cmd, true, note
}

// fileCommand is TestCommand for the directory that the command starts in.
func (p *Project) fileCommand(test repo.Path) (Command, bool, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.has(test) {
		return Command{}, false, "the file is not tracked"
	}
	lang := languageOf(test)
	inline := lang == "rust" && !isForeign(test) && rustTestMark().Match(p.text(test))
	if !p.isTest(test) && !inline {
		return Command{}, false, "the file is not a test"
	}
	switch lang {
	case "go":
		return p.goTest(test)
	case "js":
		return p.nodeTest(test)
	case "rust":
		return p.rustTest(test)
	case "python":
		return p.pythonTest(test)
	case "jvm":
		return p.jvmTest(test)
	case "c":
		return p.nativeTest(test)
	case "ruby":
		return p.rubyTest(test)
	case "php":
		return p.phpTest(test)
	case "":
		return p.shellTest(test)
	}
	return p.toolTest(test, lang)
}

// shellTest returns the command that runs a test that is a script.
func (p *Project) shellTest(test repo.Path) (Command, bool, string) {
	if strings.HasSuffix(test.Base(), ".bats") {
		return Command{Run: "bats " + quotePath(test), Source: test, Line: 1}, true, ""
	}
	shell := p.interpreter(test)
	if shell == "" {
		return Command{}, false, "its first line does not say which program runs it"
	}
	return Command{Run: shell + " " + quotePath(test), Source: test, Line: 1}, true, ""
}

// interpreter returns the program that the first line of a script names, "" if it names none that is known.
func (p *Project) interpreter(script repo.Path) string {
	if script == "" {
		return ""
	}
	first, _, _ := bytes.Cut(p.text(script), []byte("\n"))
	line, ok := strings.CutPrefix(string(first), "#!")
	if !ok {
		return ""
	}
	for _, word := range strings.Fields(line) {
		switch name := path.Base(word); name {
		case "sh", "bash", "zsh", "fish", "perl", "ruby", "python3":
			return name
		}
	}
	return ""
}
