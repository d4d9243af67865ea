package project

import (
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// has reports whether a file is tracked.
func (p *Project) has(file repo.Path) bool {
	_, ok := slices.BinarySearch(p.files, file)
	return ok
}

// isDir reports whether a path is a directory with tracked files.
func (p *Project) isDir(dir repo.Path) bool {
	return dir == "" || len(p.filesUnder(dir, 1)) > 0
}

// filesUnder returns the first tracked files below a directory.
func (p *Project) filesUnder(dir repo.Path, limit int) []repo.Path {
	if dir == "" {
		return p.files[:min(limit, len(p.files))]
	}
	prefix := dir + "/"
	from, _ := slices.BinarySearch(p.files, prefix)
	to := from
	for to < len(p.files) && to-from < limit && strings.HasPrefix(string(p.files[to]), string(prefix)) {
		to++
	}
	return p.files[from:to]
}

// firstFile returns the first of the names that is a tracked file of a directory, "" for none.
func (p *Project) firstFile(dir repo.Path, names ...string) repo.Path {
	for _, name := range names {
		if file := join(dir, name); p.has(file) {
			return file
		}
	}
	return ""
}

// manifest returns the first manifest of a directory whose name matches a pattern of [path.Match], "" for none.
func (p *Project) manifest(dir repo.Path, pattern string) repo.Path {
	for _, f := range p.manifests[dir] {
		if ok, _ := path.Match(pattern, f.Base()); ok {
			return f
		}
	}
	return ""
}

// fileLike returns the file of a directory with a name, or the first manifest whose name matches a pattern with "*", ""
// for none.
func (p *Project) fileLike(dir repo.Path, name string) repo.Path {
	if strings.Contains(name, "*") {
		return p.manifest(dir, name)
	}
	return p.firstFile(dir, name)
}

// manifestDirsBelow returns the nearest directories with manifests below a directory.
func (p *Project) manifestDirsBelow(dir repo.Path) []repo.Path {
	const deepest = 2
	for depth := 1; depth <= deepest; depth++ {
		var dirs []repo.Path
		for d := range p.manifests {
			rel, ok := relative(dir, d)
			if ok && rel != "" && strings.Count(rel, "/")+1 == depth && !isForeign(d) {
				dirs = append(dirs, d)
			}
		}
		if len(dirs) > 0 {
			slices.Sort(dirs)
			return dirs[:min(len(dirs), 20)]
		}
	}
	return nil
}

// join returns the path of a name in a directory. A name may go up, but not out of the repository: then
// the result is "".
func join(dir repo.Path, name string) repo.Path {
	joined := path.Join(string(dir), name)
	if joined == "." || joined == ".." || strings.HasPrefix(joined, "../") || strings.HasPrefix(name, "/") {
		return ""
	}
	return repo.Path(joined)
}

// relative returns a path as seen from a directory above it, "" for the directory itself.
func relative(dir, file repo.Path) (string, bool) {
	switch {
	case dir == "" || file == dir:
		return string(file[len(dir):]), file.Under(dir)
	case file.Under(dir):
		return string(file[len(dir)+1:]), true
	}
	return "", false
}

// isForeign reports whether a path is below a directory of code of other projects or of test data.
func isForeign(file repo.Path) bool {
	for elem := range strings.SplitSeq(string(file), "/") {
		switch elem {
		case "vendor", "node_modules", "third_party", "third-party", "testdata", "fixtures", "__fixtures__", "site-packages":
			return true
		}
	}
	return false
}

// isManifest reports whether a file name is that of a manifest: it configures how a project is built, tested or
// checked.
func isManifest(base string) bool {
	switch base {
	case "GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile",
		"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml",
		"package.json", "pnpm-workspace.yaml", "deno.json", "deno.jsonc", "bunfig.toml",
		"go.mod", "go.work", "Cargo.toml", "rustfmt.toml", ".rustfmt.toml", "clippy.toml", ".clippy.toml",
		"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "pytest.ini", ".pytest.ini", "conftest.py", "Pipfile", "manage.py",
		".flake8", "mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", ".pylintrc",
		"runtests.py", ".pre-commit-config.yaml",
		"settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts", "pom.xml",
		"CMakeLists.txt", "CMakePresets.json", "configure.ac", "configure.in", "configure", "Makefile.am", "meson.build",
		"Rakefile", "rakefile", "Gemfile", ".rspec", ".rubocop.yml",
		"composer.json", "phpunit.xml", "phpunit.xml.dist", "phpstan.neon", "phpstan.neon.dist", "artisan", ".php-cs-fixer.php", ".php-cs-fixer.dist.php",
		"mix.exs", "pubspec.yaml", "Package.swift", "build.zig", "build.sbt", "stack.yaml",
		"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml",
		"action.yml", "action.yaml", "Chart.yaml", "vcpkg.json", "jsr.json":
		return true
	}
	if strings.HasPrefix(base, ".golangci.") || strings.HasPrefix(base, ".eslintrc") || strings.HasPrefix(base, ".mocharc") {
		return true
	}
	if strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt") {
		return true
	}
	switch path.Ext(base) {
	case ".sln", ".slnx", ".csproj", ".fsproj", ".vbproj", ".gemspec", ".cabal":
		return true
	case ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".json":
		stem, _, _ := strings.Cut(base, ".config.")
		switch stem {
		case "vitest", "vite", "jest", "playwright", "ava", "eslint", "cypress", "karma":
			return stem != base
		}
		return strings.HasPrefix(base, "vitest.") || strings.HasPrefix(base, "jest.")
	}
	return false
}

// languageOf returns the language of a file by its extension, "" if no command here depends on it.
func languageOf(file repo.Path) string {
	switch strings.ToLower(path.Ext(file.Base())) {
	case ".go":
		return "go"
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		return "js"
	case ".rs":
		return "rust"
	case ".py", ".pyi":
		return "python"
	case ".java", ".kt", ".scala", ".groovy":
		return "jvm"
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh":
		return "c"
	case ".rb":
		return "ruby"
	case ".php":
		return "php"
	case ".cs", ".fs", ".vb":
		return "dotnet"
	case ".ex", ".exs":
		return "elixir"
	case ".dart":
		return "dart"
	case ".swift":
		return "swift"
	case ".zig":
		return "zig"
	}
	return ""
}
