package repo

import (
	"path"
	"slices"
	"strings"
)

// IsTest reports whether a file has a name that the test runners of its language look for: parse_test.go,
// test_parse.py, parse.spec.ts, ParseTest.java. Whether a project's own settings make a runner start the file is
// for package project to say.
func (p Path) IsTest() bool {
	base := p.Base()
	ext := path.Ext(base)
	real := strings.TrimSuffix(base, ext)
	stem := strings.ToLower(real)
	switch strings.ToLower(ext) {
	case ".go":
		return ends(stem, "_test") && base[0] != '_' && base[0] != '.'
	case ".py":
		return begins(stem, "test_") || ends(stem, "_test") || stem == "tests"
	case ".rs":
		return begins(stem, "test_") || ends(stem, "_test", "_tests") || stem == "test" || stem == "tests"
	case ".rb", ".cr":
		return begins(stem, "test_") && stem != "test_helper" || ends(stem, "_test", "_spec")
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".coffee", ".vue", ".svelte":
		return ends(stem, ".test", ".spec", ".e2e", ".cy", "_test", "-test", "_spec")
	case ".java", ".kt", ".kts", ".scala", ".groovy":
		// Case matters: Latest.java is no test. TestCase is what tests inherit from.
		return ends(real, "Test", "Tests", "TestCase", "Spec", "IT") || isTestClass(real)
	case ".cs", ".fs", ".vb", ".swift", ".m", ".mm":
		return ends(real, "Test", "Tests", "TestCase", "Spec", "Specs")
	case ".php":
		return ends(real, "Test", "Cest", "Spec")
	case ".c", ".cc", ".cpp", ".cxx":
		return begins(stem, "test_", "test-") || ends(stem, "_test", "_tests", "_unittest", "-test") || ends(real, "Test")
	case ".exs", ".dart":
		return ends(stem, "_test")
	case ".zig", ".v", ".hs", ".erl", ".jl", ".lua":
		return ends(stem, "_test", "_tests", "_suite")
	case ".sh", ".bash":
		return begins(stem, "test_", "test-") || ends(stem, "_test", "-test", ".test")
	case ".bats", ".t":
		return true
	}
	return false
}

// ForTests reports whether a file is only for tests: it has the name of a test, or it is below a directory of tests.
func (p Path) ForTests() bool {
	if p.IsTest() || p.Base() == "conftest.py" {
		return true
	}
	ext := strings.ToLower(path.Ext(p.Base()))
	for dir := range strings.SplitSeq(string(p.Dir()), "/") {
		switch dir {
		case "test", "tests", "Test", "Tests", "testdata", "__tests__", "__mocks__", "__fixtures__", "__snapshots__", "e2e",
			"androidTest", "unittests":
			return true
		case "spec", "specs": // in other languages, a specification
			switch ext {
			case ".rb", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".coffee", ".php", ".lua", ".cr", ".ex", ".exs":
				return true
			}
		}
	}
	return false
}

// isTestClass reports whether a name is Test and another word: TestParse, not Testing.
func isTestClass(name string) bool {
	return begins(name, "Test") && (name[4] < 'a' || name[4] > 'z') && name != "TestCase"
}

// begins reports whether s is longer than one of the prefixes that it begins with.
func begins(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return len(s) > len(prefix) && strings.HasPrefix(s, prefix) })
}

// ends reports whether s is longer than one of the suffixes that it ends with.
func ends(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return len(s) > len(suffix) && strings.HasSuffix(s, suffix) })
}
