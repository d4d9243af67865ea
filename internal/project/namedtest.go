package project

import (
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// NamedTests returns the tests that are named for a file, sorted: parse_test.go for parse.go. A test beside the file or in
// the directory of tests that belongs to it comes first. A test elsewhere in the same package counts only if the name
// is specific: not index or main, and not a name of several files.
func (p *Project) NamedTests(file repo.Path) []repo.Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	stem := strings.TrimSuffix(file.Base(), path.Ext(file.Base()))
	if stem == "" || p.isTest(file) {
		return nil
	}
	var same, alike, others []repo.Path
	for _, test := range p.files {
		tested, ok := testedStem(test)
		if !ok || tested != strings.ToLower(stem) || test == file || !sameLanguage(test, file) || !p.isTest(test) {
			continue
		}
		dir := withoutTestDirs(test.Dir())
		switch {
		case dir == file.Dir():
			same = append(same, test)
		case len(stem) < 2 || isGenericStem(stem) || p.packageDir(test) != p.packageDir(file):
		case file.Dir() != "" && dir.Base() == file.Dir().Base():
			alike = append(alike, test)
		default:
			others = append(others, test)
		}
	}
	switch {
	case len(same) > 0:
		return same
	case languageOf(file) == "go":
		return nil // a Go test lies in the package that it tests
	case len(alike) > 0:
		return alike
	case len(others) == 1 && !p.isCommonStem(file, stem):
		return others
	}
	return nil
}

// CommandTests returns the tests that are named for a command, sorted: test_file_track_untrack_commands.rs for
// cmd_file_untrack. The command is what a symbol implements whose name has the word cmd or command, or else a file with
// such a name. The tests have all other words of the name, and are of the same package and language.
func (p *Project) CommandTests(file repo.Path, symbol string) []repo.Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	words := commandWords(symbol)
	if words == nil {
		words = commandWords(strings.TrimSuffix(file.Base(), path.Ext(file.Base())))
	}
	if len(words) == 0 || p.isTest(file) {
		return nil
	}
	var list []repo.Path
	for _, test := range p.files {
		stem, ok := testedStem(test)
		if !ok || !sameLanguage(test, file) || !p.isTest(test) || p.packageDir(test) != p.packageDir(file) {
			continue
		}
		has := partsOf(stem)
		isNamed := !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(has, w) })
		isSpecific := len(words) > 1 || slices.Equal(withoutCommandWord(has), words)
		if isNamed && isSpecific {
			list = append(list, test)
		}
	}
	return list
}

// commandWords returns the words of the command that a name is about; nil if the name does not say that it is one.
func commandWords(name string) []string {
	all := partsOf(name)
	words := withoutCommandWord(all)
	if len(words) == len(all) {
		return nil
	}
	return words
}

func partsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '_' || c == '-' || c == '.' })
}

func withoutCommandWord(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.Contains([]string{"cmd", "command", "commands"}, w)
	})
}

// isGenericStem reports whether a name does not identify a file.
func isGenericStem(stem string) bool {
	switch strings.ToLower(stem) {
	case "index", "main", "mod", "lib", "util", "utils", "helper", "helpers", "common", "types", "__init__", "__main__", "conftest", "test", "tests":
		return true
	}
	return false
}

// packageDir returns the directory of the nearest manifest of a package above a file, "" for the root.
func (p *Project) packageDir(file repo.Path) repo.Path {
	for d := range file.Dir().Upward() {
		if p.firstFile(d, "go.mod", "package.json", "deno.json", "Cargo.toml", "pyproject.toml", "setup.py", "setup.cfg", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "Gemfile") != "" {
			return d
		}
	}
	return ""
}

// isCommonStem reports whether other files of the package have the name of a file, in the same language.
func (p *Project) isCommonStem(file repo.Path, stem string) bool {
	return slices.ContainsFunc(p.files, func(o repo.Path) bool {
		return o != file && strings.TrimSuffix(o.Base(), path.Ext(o.Base())) == stem && sameLanguage(o, file) && p.packageDir(o) == p.packageDir(file)
	})
}

func sameLanguage(a, b repo.Path) bool {
	lang := languageOf(a)
	return lang == languageOf(b) && (lang != "" || path.Ext(a.Base()) == path.Ext(b.Base()))
}

// withoutTestDirs returns a directory without the parts that are named for tests.
func withoutTestDirs(dir repo.Path) repo.Path {
	parts := strings.Split(string(dir), "/")
	parts = slices.DeleteFunc(parts, func(part string) bool {
		switch part {
		case "test", "tests", "__tests__", "spec", "unit":
			return true
		}
		return false
	})
	return repo.Path(strings.Join(parts, "/"))
}

// testedStem returns the name that a test is named for, in lower case.
func testedStem(test repo.Path) (string, bool) {
	base := test.Base()
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, suffix := range []string{"_test", ".test", "-test", "_spec", ".spec", "_tests", "Tests", "Test", "Spec", "IT"} {
		if cut, ok := strings.CutSuffix(stem, suffix); ok && cut != "" {
			return strings.ToLower(cut), true
		}
	}
	for _, prefix := range []string{"test_", "test-"} {
		if cut, ok := strings.CutPrefix(stem, prefix); ok && cut != "" {
			return strings.ToLower(cut), true
		}
	}
	if withoutTestDirs(test.Dir()) != test.Dir() { // tests/cart.rs
		return strings.ToLower(stem), true
	}
	return "", false
}
