package project

import (
	"bytes"
	"path"
	"strings"

	"ken/internal/repo"
)

// otherTools are tools with one manifest and one way to run each step.
var otherTools = []struct {
	manifest, lang string
	build, test    string
	one            string // before a test file; "" if the tool has no such form
}{
	{"mix.exs", "elixir", "mix compile", "mix test", "mix test"},
	{"Package.swift", "swift", "swift build", "swift test", ""},
	{"build.zig", "zig", "zig build", "zig build test", "zig test"},
	{"build.sbt", "jvm", "sbt compile", "sbt test", ""},
	{"stack.yaml", "haskell", "stack build", "stack test", ""},
}

// otherCommands adds the steps of tools that have one way to do them.
func (p *Project) otherCommands(dir repo.Path, add func(candidate)) {
	for _, t := range otherTools {
		file := p.firstFile(dir, t.manifest)
		if file == "" {
			continue
		}
		offer := func(use purpose, run string) {
			add(candidate{
				Command: Command{Run: inDir(dir, run), Source: file},
				purpose: use, lang: t.lang, key: run, order: orderImplied,
			})
		}
		offer(forBuild, t.build)
		offer(forTest, t.test)
	}
	if file := p.firstFile(dir, "pubspec.yaml"); file != "" {
		tool := p.dartTool(file)
		add(candidate{
			Command: Command{Run: inDir(dir, tool+" test"), Source: file},
			purpose: forTest, lang: "dart", key: tool + " test", order: orderImplied,
		})
		add(candidate{
			Command: Command{Run: inDir(dir, tool+" analyze"), Source: file},
			purpose: forLint, lang: "dart", key: tool + " analyze", order: orderImplied,
		})
	}
}

// dartTool returns the tool that a pubspec.yaml is for.
func (p *Project) dartTool(pubspec repo.Path) string {
	if lineOf(p.text(pubspec), `^[ \t]*sdk:\s*flutter`) > 0 {
		return "flutter"
	}
	return "dart"
}

// otherTest returns the command that runs one test file with such a tool.
func (p *Project) otherTest(test repo.Path, lang string) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		rel, _ := relative(d, test)
		arg := quotePath(repo.Path(rel))
		if file := p.firstFile(d, "pubspec.yaml"); file != "" && lang == "dart" {
			return Command{Run: inDir(d, p.dartTool(file)+" test "+arg), Dir: d, Source: file}, true, ""
		}
		if file := p.firstFile(d, "Package.swift"); file != "" && lang == "swift" {
			class := strings.TrimSuffix(test.Base(), ".swift")
			if isVariable(class) {
				return Command{Run: inDir(d, "swift test --filter "+class), Dir: d, Source: file}, true, ""
			}
		}
		for _, t := range otherTools {
			if file := p.firstFile(d, t.manifest); file != "" && t.lang == lang && t.one != "" {
				return Command{Run: inDir(d, t.one+" "+arg), Dir: d, Source: file}, true, ""
			}
		}
	}
	return Command{}, false, "no file says which program runs it"
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
