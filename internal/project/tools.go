package project

import (
	"cmp"
	"path"
	"strings"

	"ken/internal/repo"
)

// A step is a command that a file of a directory shows: the manifest of a tool, or its configuration.
type step struct {
	files string // names or patterns; the first that the directory has counts
	when  string // an expression that the file matches
	line  bool   // the line that matches is named
	use   purpose
	run   string // in the directory; at the root if it has {path}; [Project.expand] has the other words in braces
	lang  string
	key   string // as CI steps have it; run if ""
	order int    // orderImplied if 0
}

const (
	dotnetFiles  = "*.sln *.slnx *.csproj *.fsproj *.vbproj"
	mesonProject = `^[ \t]*project\s*\(`
)

var steps = []step{
	{files: ".gitmodules", use: forInstall, run: "git submodule update --init --recursive", order: orderImplied + 1},

	{files: ".golangci.*", use: forLint, run: "golangci-lint run", lang: "go", order: orderConfig},
	{files: "clippy.toml .clippy.toml", use: forLint, run: "cargo clippy", lang: "rust", order: orderConfig},
	{files: "manage.py", use: forRun, run: "{python}python manage.py runserver", lang: "python", key: "python"},

	{
		files: "meson.build", when: mesonProject, line: true, use: forBuild, lang: "c", key: "meson compile",
		run: "meson setup build && meson compile -C build",
	},
	{
		files: "meson.build", when: mesonProject, line: true, use: forTest, lang: "c", key: "meson test",
		run: "meson test -C build",
	},

	{files: "Gemfile", use: forInstall, run: "bundle install", lang: "ruby"},
	{files: "bin/rails", use: forRun, run: "bin/rails server", lang: "ruby", key: "rails server"},
	{files: ".rubocop.yml", use: forLint, run: "{bundle}rubocop", lang: "ruby", key: "rubocop", order: orderConfig},
	{files: "*.gemspec", use: forBuild, run: "gem build {file}", lang: "ruby", key: "gem build"},

	{files: "composer.json", use: forInstall, run: "composer install", lang: "php"},
	{
		files: "phpstan.neon phpstan.neon.dist", use: forLint, run: "vendor/bin/phpstan analyse",
		lang: "php", key: "phpstan", order: orderConfig,
	},
	{files: "artisan", use: forRun, run: "php artisan serve", lang: "php", key: "artisan"},

	{files: "*.sln", use: forInstall, run: "dotnet restore", lang: "dotnet"},
	{files: dotnetFiles, use: forBuild, run: "dotnet build {path}", lang: "dotnet", key: "dotnet build"},
	{files: "*.sln *.slnx", use: forTest, run: "dotnet test {path}", lang: "dotnet", key: "dotnet test"},
	{
		files: dotnetFiles, when: `Microsoft\.NET\.Test\.Sdk`, use: forTest, run: "dotnet test {path}",
		lang: "dotnet", key: "dotnet test",
	},
	{
		files: dotnetFiles, when: `<OutputType>Exe|Microsoft\.NET\.Sdk\.Web`, use: forRun, run: "dotnet run --project {path}",
		lang: "dotnet", key: "dotnet run",
	},
	{
		files: "*.csproj *.fsproj *.vbproj", use: forOneTest, run: "dotnet test {path} --filter FullyQualifiedName~{class}",
		lang: "dotnet",
	},

	{files: "mix.exs", use: forInstall, run: "mix deps.get", lang: "elixir"},
	{files: "mix.exs", use: forBuild, run: "mix compile", lang: "elixir"},
	{files: "mix.exs", use: forTest, run: "mix test", lang: "elixir"},
	{files: "mix.exs", use: forOneTest, run: "mix test {test}", lang: "elixir"},

	{files: "Package.swift", use: forInstall, run: "swift package resolve", lang: "swift"},
	{files: "Package.swift", use: forBuild, run: "swift build", lang: "swift"},
	{files: "Package.swift", use: forTest, run: "swift test", lang: "swift"},
	{files: "Package.swift", use: forOneTest, run: "swift test --filter {class}", lang: "swift"},

	{files: "build.zig", use: forBuild, run: "zig build", lang: "zig"},
	{files: "build.zig", use: forTest, run: "zig build test", lang: "zig"},
	{files: "build.zig", use: forOneTest, run: "zig test {test}", lang: "zig"},

	{files: "build.sbt", use: forBuild, run: "sbt compile", lang: "jvm"},
	{files: "build.sbt", use: forTest, run: "sbt test", lang: "jvm"},
	{files: "stack.yaml", use: forBuild, run: "stack build", lang: "haskell"},
	{files: "stack.yaml", use: forTest, run: "stack test", lang: "haskell"},

	{files: "pubspec.yaml", use: forInstall, run: "{dart} pub get", lang: "dart"},
	{files: "pubspec.yaml", use: forTest, run: "{dart} test", lang: "dart"},
	{files: "pubspec.yaml", use: forLint, run: "{dart} analyze", lang: "dart"},
	{files: "pubspec.yaml", use: forOneTest, run: "{dart} test {test}", lang: "dart"},
}

// stepCommands adds the steps of a directory.
func (p *Project) stepCommands(dir repo.Path, add func(candidate)) {
	for _, s := range steps {
		file, line := p.stepFile(&s, dir)
		if file == "" || s.use == forOneTest {
			continue
		}
		key := cmp.Or(s.key, p.expand(&s, "", file, ""))
		if s.use == forInstall {
			words := strings.Fields(key)
			key = installKey(words[0], words)
		}
		add(candidate{
			Command: Command{Run: p.expand(&s, dir, file, ""), Source: file, Line: line},
			purpose: s.use, lang: s.lang, key: key, order: cmp.Or(s.order, orderImplied),
		})
	}
}

// stepFile returns the file of a directory that shows a step, and the line to name; "" for none.
func (p *Project) stepFile(s *step, dir repo.Path) (repo.Path, int) {
	for name := range strings.FieldsSeq(s.files) {
		file := p.fileLike(dir, name)
		if file == "" {
			continue
		}
		line := 0
		if s.when != "" {
			line = lineOf(p.text(file), s.when)
			if line == 0 {
				return "", 0
			}
		}
		if !s.line {
			line = 0
		}
		return file, line
	}
	return "", 0
}

// expand returns the command of a step for a shell at the root, with what the words in braces stand for.
func (p *Project) expand(s *step, dir, file, test repo.Path) string {
	rel, _ := relative(dir, test)
	run := strings.NewReplacer(
		"{file}", quoteWord(file.Base()),
		"{path}", quotePath(file),
		"{test}", quotePath(repo.Path(rel)),
		"{class}", className(test),
		"{bundle}", p.bundled(dir),
		"{python}", p.pythonPrefix(dir),
		"{dart}", p.dartTool(file),
	).Replace(s.run)
	if strings.Contains(s.run, "{path}") {
		return run
	}
	return inDir(dir, run)
}

// className returns the name of the class in a file that is named for it.
func className(file repo.Path) string { return strings.TrimSuffix(file.Base(), path.Ext(file.Base())) }

// stepTest returns the command that runs one test file by a step.
func (p *Project) stepTest(test repo.Path, lang string) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		for _, s := range steps {
			file, _ := p.stepFile(&s, d)
			byClass := strings.Contains(s.run, "{class}")
			if s.use != forOneTest || s.lang != lang || file == "" || byClass && !isVariable(className(test)) {
				continue
			}
			return Command{Run: p.expand(&s, d, file, test), Dir: d, Source: file}, true, ""
		}
	}
	return Command{}, false, "no file says which program runs it"
}

// dartTool returns the tool that a pubspec.yaml is for.
func (p *Project) dartTool(pubspec repo.Path) string {
	if pubspec.Base() == "pubspec.yaml" && lineOf(p.text(pubspec), `^[ \t]*sdk:\s*flutter`) > 0 {
		return "flutter"
	}
	return "dart"
}
