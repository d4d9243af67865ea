package repo_test

import (
	"testing"

	"ken/internal/repo"
)

func TestTestFiles(t *testing.T) {
	for path, want := range map[repo.Path]struct{ test, forTests bool }{
		"parse_test.go":            {true, true},
		"_parse_test.go":           {},
		"parse_tests.go":           {},
		"test_parse.py":            {true, true},
		"app/tests.py":             {true, true},
		"conftest.py":              {false, true},
		"tests/util.py":            {false, true},
		"src/latest.py":            {},
		"src/tests.rs":             {true, true},
		"lib/test_helper.rb":       {},
		"test/test_helper.rb":      {false, true},
		"spec/parse.rb":            {false, true},
		"spec/parse.go":            {},
		"src/parse.spec.ts":        {true, true},
		"src/parse.test.d.ts":      {},
		"src/ParseTest.java":       {true, true},
		"src/TestParse.java":       {true, true},
		"src/Testing.java":         {},
		"src/Latest.java":          {},
		"src/TestCase.java":        {},
		"src/ParseTest.php":        {true, true},
		"src/test_parse.c":         {true, true},
		"src/test_parse.h":         {},
		"t/parse.t":                {true, true},
		"parse/testdata/parse.txt": {false, true},
		"tests":                    {},
		"":                         {},
	} {
		if path.IsTest() != want.test || path.ForTests() != want.forTests {
			t.Errorf("%q: a test %t, for tests %t; want %+v", path, path.IsTest(), path.ForTests(), want)
		}
	}
}
