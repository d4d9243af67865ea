package project_test

import (
	"slices"
	"testing"

	"ken/internal/repo"
)

func TestNamedTests(t *testing.T) {
	p := open(t, `
-- go.mod --
module x
-- parse/parse.go --
-- parse/parse_test.go --
-- other/parse_test.go --
-- pyproject.toml --
[tool.pytest.ini_options]
-- shop/cart.py --
-- shop/utils.py --
-- tests/test_cart.py --
-- tests/test_utils.py --
-- package.json --
{"devDependencies":{"vitest":"1"},"scripts":{"test":"vitest"}}
-- src/jsx/dom/context.test.tsx --
-- src/context.ts --
-- src/context.test.ts --
-- lib/a/index.ts --
-- lib/b/index.ts --
-- lib/a/index.test.ts --
-- test/lib/b/index.test.ts --
-- lib/c/index.ts --
-- test/c/index.test.ts --
-- lib/router.ts --
-- pkg/one/package.json --
{"name": "one"}
-- pkg/one/src/index.ts --
-- pkg/one/src/router.ts --
-- pkg/one/test/router.spec.ts --
-- pkg/two/package.json --
{"name": "two"}
-- pkg/two/src/index.spec.ts --
-- pkg/two/src/query.spec.ts --
-- pkg/one/src/query.ts --
`)
	for file, want := range map[repo.Path][]repo.Path{
		"parse/parse.go":        {"parse/parse_test.go"},
		"shop/cart.py":          {"tests/test_cart.py"},
		"shop/utils.py":         nil, // the name says too little
		"src/context.ts":        {"src/context.test.ts"},
		"lib/a/index.ts":        {"lib/a/index.test.ts"},
		"lib/b/index.ts":        {"test/lib/b/index.test.ts"},
		"lib/c/index.ts":        nil,
		"pkg/one/src/index.ts":  nil, // the test is of another package
		"pkg/one/src/query.ts":  nil,
		"pkg/one/src/router.ts": {"pkg/one/test/router.spec.ts"},
		"parse/parse_test.go":   nil,
	} {
		if got := p.NamedTests(file); !slices.Equal(got, want) {
			t.Errorf("named for %s: %v, expected %v", file, got, want)
		}
	}
}

func TestCommandTests(t *testing.T) {
	p := open(t, `
-- Cargo.toml --
[package]
name = "x"
-- src/cmd_file_untrack.rs --
-- src/commands/file/track.rs --
-- src/cmd_log.rs --
-- src/file_track.rs --
-- tests/test_file_track_untrack_commands.rs --
-- tests/test_file_show_command.rs --
-- tests/test_log_command.rs --
-- tests/test_log_colors.rs --
`)
	for _, c := range []struct {
		file   repo.Path
		symbol string
		want   []repo.Path
	}{
		{"src/cmd_file_untrack.rs", "", []repo.Path{"tests/test_file_track_untrack_commands.rs"}},
		{"src/commands/file/track.rs", "cmd_file_track", []repo.Path{"tests/test_file_track_untrack_commands.rs"}},
		{"src/commands/file/track.rs", "track", nil},
		{"src/cmd_log.rs", "", []repo.Path{"tests/test_log_command.rs"}}, // one word alone says little
		{"src/file_track.rs", "", nil},                                   // not named as a command
	} {
		if got := p.CommandTests(c.file, c.symbol); !slices.Equal(got, c.want) {
			t.Errorf("tests of the command %s#%s: %v, expected %v", c.file, c.symbol, got, c.want)
		}
	}
}
