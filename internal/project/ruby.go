package project

import (
	"strings"

	"ken/internal/repo"
)

var rakeTask = lazyRegexp(`(?m)^\s*(?:Rake::TestTask\.new(?:\s*\(?\s*:?["']?(\w+))?|RSpec::Core::RakeTask\.new(?:\s*\(?\s*:?["']?(\w+))?|task\b[\s(]*:?["']?([\w:-]+)|Cucumber::Rake::Task\.new)`)

// bundled returns the prefix of commands in the nearest bundle above a directory.
func (p *Project) bundled(dir repo.Path) string {
	for d := range dir.Upward() {
		if p.firstFile(d, "Gemfile", "gems.rb") != "" {
			return "bundle exec "
		}
	}
	return ""
}

// rubyCommands adds rake tasks, rspec and rubocop.
func (p *Project) rubyCommands(dir repo.Path, add func(candidate)) {
	prefix := p.bundled(dir)
	if file := p.firstFile(dir, "Rakefile", "rakefile"); file != "" {
		text := p.text(file)
		for _, m := range rakeTask().FindAllSubmatchIndex(text, maxNames) {
			name := ""
			for i := 2; i+1 < len(m); i += 2 {
				if m[i] >= 0 {
					name = string(text[m[i]:m[i+1]])
				}
			}
			switch whole := strings.TrimSpace(string(text[m[0]:m[1]])); {
			case name != "":
			case strings.HasPrefix(whole, "Rake::TestTask"):
				name = "test"
			case strings.HasPrefix(whole, "RSpec"):
				name = "spec"
			}
			t := task{name, file, lineAt(text, m[0])}
			run := inDir(dir, prefix+"rake "+name)
			if name == "spec" {
				add(candidate{
					Command: Command{Run: run, Source: file, Line: t.line},
					purpose: forTest, lang: "ruby", key: "rake:spec", order: orderNamed + 1,
				})
				continue
			}
			addTask(t, "rake:", run, add)
		}
	}
	if source := p.rspec(dir); source != "" {
		add(candidate{
			Command: Command{Run: prefix + "rspec", in: dir, Source: source},
			purpose: forTest, lang: "ruby", key: "rspec", order: orderImplied,
		})
	}
	if file := p.firstFile(dir, "bin/rails"); file != "" && p.isDir(join(dir, "test")) {
		add(candidate{
			Command: Command{Run: "bin/rails test", in: dir, Source: file},
			purpose: forTest, lang: "ruby", key: "rails test", order: orderImplied,
		})
	}
}

// rspec returns the file that shows that a directory uses rspec, "" for none.
func (p *Project) rspec(dir repo.Path) repo.Path {
	return p.firstFile(dir, ".rspec", "spec/spec_helper.rb", "spec/rails_helper.rb")
}

// rubyTest returns the command that runs one Ruby test file.
func (p *Project) rubyTest(test repo.Path) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		rel, _ := relative(d, test)
		arg := quotePath(repo.Path(rel))
		source := p.rspec(d)
		if strings.HasSuffix(rel, "_spec.rb") {
			if source != "" {
				return Command{Run: p.bundled(d) + "rspec " + arg, in: d, Dir: d, Source: source}, true, ""
			}
			continue
		}
		if file := p.firstFile(d, "bin/rails"); file != "" {
			return Command{Run: "bin/rails test " + arg, in: d, Dir: d, Source: file}, true, ""
		}
		for _, name := range []string{"Rakefile", "rakefile"} {
			file := join(d, name)
			if line := lineOf(p.text(file), `Rake::TestTask|Minitest::TestTask`); line > 0 {
				folder, _, _ := strings.Cut(rel, "/")
				return Command{Run: p.bundled(d) + "ruby -Ilib -I" + quoteWord(folder) + " " + arg, in: d, Dir: d, Source: file, Line: line}, true, ""
			}
		}
	}
	if line := lineOf(p.text(test), `(?:minitest/autorun|test/unit|\btest_helper\b)`); line > 0 {
		folder, _, _ := strings.Cut(string(test), "/")
		return Command{Run: p.bundled(test.Dir()) + "ruby -Ilib -I" + quoteWord(folder) + " " + quotePath(test), Source: test, Line: line}, true, ""
	}
	return Command{}, false, "no file says which program runs it"
}
