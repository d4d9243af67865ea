package project_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ken/internal/project"
	"ken/internal/repo"
)

// No manifest or document makes the package panic. Every text that it returns is one clean line, and every source is a tracked file.
func FuzzManifest(f *testing.F) {
	names := []repo.Path{
		"Makefile", "justfile", "Taskfile.yml", "package.json", "vitest.config.ts", "deno.json", "pnpm-workspace.yaml", "go.mod", "go.work", "Cargo.toml",
		"pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", "settings.gradle", "build.gradle", "pom.xml", "CMakeLists.txt", "Makefile.am", "configure.ac",
		"Rakefile", "composer.json", "x.gemspec", "x.csproj", ".github/workflows/ci.yml", ".gitlab-ci.yml", "AGENTS.md", "CONTRIBUTING.rst", "README.md", "setup.py", "Gemfile",
	}
	code := []repo.Path{"a_test.go", "a.test.ts", "test_a.py", "tests/a.rs", "src/lib.rs", "ATest.java", "a_test.cc", "a_spec.rb", "ATest.php", "ATests.cs", "cmd/x/main.go"}
	seeds := []string{
		"test:\n\tx\ninclude Makefile\n", `{"scripts": {"test": "npm run test && vitest run a*"}, "workspaces": ["*"], "bin": "x"}`,
		"tasks: &a\n  test: *a\n", "[package]\nname = \"x\"\n[[test]]\npath = \"tests/a.rs\"\n[workspace]\n", "<project><modules><module>.</module></modules></project>",
		"[tool.pytest.ini_options]\ntestpaths = \"tests\"\n[tool.tox]\nlegacy_tox_ini = \"[testenv]\"\n", "jobs: {a: {steps: [{run: \"cd x && go test '\"}]}}",
		"test: {include: ['**/(*.)+(a|b).+(ts', '!x'], exclude: [...x]}", "# *x*\n- Always `src/` and a_test.go\nx\n===\n", "[a\n= b", "#!/bin/sh\n//go:build a && !b\npackage main\n#[test]\n",
		"it('a $(x) `y`', () => {\n  use()\n})\n", "func TestA(t *testing.T) {\n\tuse()\n}\n", "class T:\n  def test_a(self):\n    use()\n", "mod tests {\n    #[test]\n    fn a() {\n",
	}
	for i := range names {
		for _, seed := range seeds {
			f.Add(uint8(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, content string) {
		main := names[int(which)%len(names)]
		files := append(append([]repo.Path{}, names...), code...)
		p, err := project.New(files, func(file repo.Path) ([]byte, error) {
			if file == main || file.Dir() != "" || languageLike(file) {
				return []byte(content), nil
			}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append([]repo.Path{"", "src", "none/x.go"}, files...) {
			c := p.CommandsFor(path)
			for _, list := range [][]project.Command{c.Install, c.Build, c.Test, c.Lint, c.Run} {
				if len(list) > 3 {
					t.Errorf("%d commands of one kind for %q, want at most 3", len(list), path)
				}
				for _, cmd := range list {
					checkCommand(t, files, cmd)
				}
			}
			cmd, ok, note := p.TestCommand(path)
			if ok {
				checkCommand(t, files, cmd)
			}
			checkLine(t, note)
			if cmd, ok := p.TestCaseCommand(path, p.TestCasesAt(path, []int{0, 1, 2, 3, 5, 8})); ok {
				checkCommand(t, files, cmd)
			}
			for _, in := range p.Instructions(path) {
				for _, heading := range in.Headings {
					checkLine(t, heading)
				}
				for _, l := range in.Lines {
					checkLine(t, l.Text)
					if l.Line < 1 {
						t.Errorf("%q is in line %d of %s, want 1 or more", l.Text, l.Line, in.Source)
					}
				}
			}
		}
		for _, name := range project.DescribingManifests {
			checkLine(t, project.Description(strings.Replace(name, "*", "a", 1), []byte(content)))
		}
		for _, n := range p.Needs("") {
			checkLine(t, n.Text)
		}
		p.Entrypoints("")
		for _, s := range p.Skipped() {
			checkLine(t, s.Why)
		}
	})
}

// languageLike reports the files that every input is also tried as.
func languageLike(file repo.Path) bool {
	return strings.HasPrefix(string(file), "a") || strings.HasPrefix(string(file), "A") || strings.HasPrefix(string(file), "test_")
}

func checkCommand(t *testing.T, files []repo.Path, cmd project.Command) {
	t.Helper()
	checkLine(t, cmd.Run)
	if cmd.Run == "" {
		t.Error("a command is empty")
	}
	for _, f := range files {
		if f == cmd.Source {
			return
		}
	}
	t.Errorf("command %q names source %q, which is not tracked", cmd.Run, cmd.Source)
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	if !utf8.ValidString(line) || len(line) > 2000 || strings.ContainsFunc(line, repo.IsMisleading) {
		t.Errorf("text %q is not one short line", line)
	}
}
