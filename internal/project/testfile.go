package project

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// IsTest reports whether a file is a test that a runner starts: by its name and place, and by the patterns in the
// manifests above it. Helpers, fixtures and data of tests are not tests.
func (p *Project) IsTest(file repo.Path) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isTest(file)
}

func (p *Project) isTest(file repo.Path) bool {
	if isForeign(file) || inDirNamed(file, "__mocks__", "__snapshots__") {
		return false
	}
	base := file.Base()
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch languageOf(file) {
	case "go":
		return strings.HasSuffix(stem, "_test") && base[0] != '_' && base[0] != '.'
	case "js":
		return p.isNodeTest(file, stem)
	case "rust":
		return p.isRustTest(file, stem)
	case "python":
		return ext == ".py" && p.isPythonTest(file)
	case "jvm":
		named := hasSuffix(stem, "Test", "Tests", "TestCase", "IT", "Spec") || strings.HasPrefix(stem, "Test") && len(stem) > 4
		return named && stem != "TestCase"
	case "dotnet", "swift":
		return hasSuffix(stem, "Test", "Tests", "Spec", "Specs")
	case "php":
		return hasSuffix(stem, "Test", "Cest") && stem != "Test"
	case "c":
		isSource := ext != ".h" && ext != ".hh" && ext != ".hpp"
		return isSource && (hasSuffix(stem, "_test", "_tests", "_unittest", "-test", "Test") || hasPrefix(stem, "test_", "test-"))
	case "ruby":
		return hasSuffix(stem, "_test", "_spec") || strings.HasPrefix(stem, "test_") && stem != "test_helper"
	case "elixir", "dart":
		return hasSuffix(stem, "_test") && ext != ".ex"
	case "zig":
		return hasSuffix(stem, "_test", "_tests")
	}
	switch ext {
	case ".bats":
		return true
	case ".sh", ".bash":
		return hasSuffix(stem, "_test", "-test", ".test") || hasPrefix(stem, "test_", "test-")
	case ".t":
		return inDirNamed(file, "t")
	}
	return false
}

// isNodeTest reports whether a JavaScript file is a test, by its name or because a script or configuration of the package runs it.
func (p *Project) isNodeTest(file repo.Path, stem string) bool {
	if hasSuffix(stem, ".d", ".config", ".snap") {
		return false
	}
	if hasSuffix(stem, ".test", ".spec", "_test", ".cy", ".e2e", "-test", "_spec") {
		return true
	}
	inTests := inDirNamed(file, "test", "tests", "__tests__", "spec", "e2e")
	if !inTests || inDirNamed(file, "helpers", "utils", "support", "mocks") {
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

// isRustTest reports whether a Rust file is an integration test, or contains tests and has the name or the directory of tests.
func (p *Project) isRustTest(file repo.Path, stem string) bool {
	named := stem == "test" || stem == "tests" || hasSuffix(stem, "_test", "_tests") || strings.HasPrefix(stem, "test_")
	if !named && !inDirNamed(file, "tests") {
		return false
	}
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

func hasSuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if len(s) > len(suffix) && strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
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
	cmd, ok, note := p.testCommand(test, lang)
	if !ok {
		return Command{}, false, note
	}
	cmd.Run, ok = cleanCommand(cmd.Run)
	if !ok {
		return Command{}, false, "its name cannot be shown on one line"
	}
	return cmd, true, note
}

func (p *Project) testCommand(test repo.Path, lang string) (Command, bool, string) {
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
