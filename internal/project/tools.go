package project

import (
	"cmp"
	"path"
	"strings"

	"ken/internal/repo"
)

// A toolCommand is a command for a directory with a certain file: the manifest of a tool, or its configuration.
type toolCommand struct {
	files string // names or patterns; the first that the directory has counts
	when  string // an expression that the file must match; "" for any file
	line  bool   // the line that matches is the source
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

// knownTools are tools with one command for each purpose. Other files of this package know tools with more.
var knownTools = []toolCommand{
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
		files: "*.csproj *.fsproj *.vbproj", when: `(?i)Microsoft\.NET\.Test\.Sdk|xunit|nunit|mstest`, use: forOneTest, run: "dotnet test {path} --filter FullyQualifiedName~{class}",
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

// toolCommands adds the commands of the known tools that a directory uses.
func (p *Project) toolCommands(dir repo.Path, add func(candidate)) {
	for _, t := range knownTools {
		file, line := p.toolFile(&t, dir)
		if file == "" || t.use == forOneTest {
			continue
		}
		key := cmp.Or(t.key, p.expand(&t, "", file, ""))
		if t.use == forInstall {
			words := strings.Fields(key)
			key = installKey(words[0], words)
		}
		add(candidate{
			Command: Command{Run: p.expand(&t, dir, file, ""), Source: file, Line: line},
			purpose: t.use, lang: t.lang, key: key, order: cmp.Or(t.order, orderImplied),
		})
	}
}

// toolFile returns the file of a directory that a tool needs, "" for none, and its line, 0 for the file as a whole.
func (p *Project) toolFile(t *toolCommand, dir repo.Path) (repo.Path, int) {
	for name := range strings.FieldsSeq(t.files) {
		file := p.fileLike(dir, name)
		if file == "" {
			continue
		}
		line := 0
		if t.when != "" {
			line = lineOf(p.text(file), t.when)
			if line == 0 {
				return "", 0
			}
		}
		if !t.line {
			line = 0
		}
		return file, line
	}
	return "", 0
}

// expand returns a command for a shell at the root. It replaces the words in braces.
func (p *Project) expand(t *toolCommand, dir, file, test repo.Path) string {
	rel, _ := relative(dir, test)
	run := strings.NewReplacer(
		"{file}", quoteWord(file.Base()),
		"{path}", quotePath(file),
		"{test}", quotePath(repo.Path(rel)),
		"{class}", className(test),
		"{bundle}", p.bundled(dir),
		"{python}", p.pythonPrefix(dir),
		"{dart}", p.dartTool(file),
	).Replace(t.run)
	if strings.Contains(t.run, "{path}") {
		return run
	}
	return inDir(dir, run)
}

// className returns the name of the class in a file that is named for it.
func className(file repo.Path) string { return strings.TrimSuffix(file.Base(), path.Ext(file.Base())) }

// toolTest returns the command of a known tool that runs one test file.
func (p *Project) toolTest(test repo.Path, lang string) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		for _, t := range knownTools {
			file, _ := p.toolFile(&t, d)
			runsOneTest := t.use == forOneTest && t.lang == lang
			// A filter that matches nothing is no error for these tools.
			noClass := strings.Contains(t.run, "{class}") && lineOf(p.text(test), `\b(class|struct)\s+`+className(test)+`\b`) == 0
			if !runsOneTest || noClass || file == "" {
				continue
			}
			return Command{Run: p.expand(&t, d, file, test), Dir: d, Source: file}, true, ""
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
