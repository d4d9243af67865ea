package project

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A Need is a language or tool with the version that a manifest asks for.
type Need struct {
	Text   string // "Go 1.24"
	Source repo.Path
	Line   int
}

// Needs returns the languages and tools that the manifests of a directory ask for.
func (p *Project) Needs(dir repo.Path) []Need {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Need
	add := func(name, version string, source repo.Path, line int) {
		version = cleanText(version)
		same := func(n Need) bool { return strings.HasPrefix(n.Text, name+" ") }
		if version != "" && len(version) < 40 && !slices.ContainsFunc(list, same) {
			list = append(list, Need{name + " " + version, source, line})
		}
	}
	if mod := p.goMod(dir); mod != nil {
		add("Go", mod.Go, join(dir, "go.mod"), mod.GoLine)
	}
	if pkg := p.nodePackage(dir); pkg != nil {
		for _, name := range []string{"node", "npm", "pnpm", "yarn", "bun"} {
			shown := strings.Replace(name, "node", "Node.js", 1)
			add(shown, pkg.doc.Text("engines", name), pkg.file, jsonLine(pkg.text, "engines", name))
		}
		if tool, version, ok := strings.Cut(pkg.doc.Text("packageManager"), "@"); ok && isManager(tool) {
			version, _, _ = strings.Cut(version, "+")
			add(tool, version, pkg.file, jsonLine(pkg.text, "packageManager"))
		}
	}
	for _, v := range versionFiles {
		file := p.fileLike(dir, v.file)
		text := p.text(file)
		if m := v.version().FindSubmatchIndex(text); m != nil {
			add(v.name, string(text[m[2]:m[3]]), file, lineAt(text, m[2]))
		}
	}
	return list
}

var (
	onlyVersion   = lazyRegexp(`\A\s*([vV]?[\w.*/-]+)\s*\n?\z`)
	pythonVersion = lazyRegexp(`(?m)^\s*(?:requires-python|python_requires)\s*=\s*["']?([^"'\n#]+?)["']?\s*,?\s*(?:#.*)?$`)
	gradleVersion = lazyRegexp(
		`(?:languageVersion[^\n]*of\(|JavaVersion\.VERSION_|sourceCompatibility\s*=\s*["']?)(\d[\d_.]*)`)
)

// versionFiles are the files that say which version of a language or tool is needed. Of those for one name, the first
// counts.
var versionFiles = []struct {
	name, file string
	version    func() *regexp.Regexp
}{
	{"Node.js", ".nvmrc", onlyVersion},
	{"Node.js", ".node-version", onlyVersion},
	{"Python", "pyproject.toml", pythonVersion},
	{"Python", "setup.cfg", pythonVersion},
	{"Python", "setup.py", pythonVersion},
	{"Python", ".python-version", onlyVersion},
	{"Rust", "Cargo.toml", lazyRegexp(`(?m)^\s*rust-version\s*=\s*"([^"]+)"`)},
	{"Rust", "rust-toolchain.toml", lazyRegexp(`(?m)^\s*channel\s*=\s*"([^"]+)"`)},
	{"Rust", "rust-toolchain", onlyVersion},
	{"Ruby", "*.gemspec", lazyRegexp(`required_ruby_version\s*=?\s*(?:Gem::Requirement\.new\()?["']([^"']+)`)},
	{"Ruby", ".ruby-version", onlyVersion},
	{"PHP", "composer.json", lazyRegexp(`"require"\s*:\s*\{[^}]*?"php"\s*:\s*"([^"]+)"`)},
	{"Java", "pom.xml", lazyRegexp(`<(?:maven\.compiler\.(?:release|source)|java\.version|release)>\s*([\d.]+)\s*<`)},
	{"Java", "build.gradle", gradleVersion},
	{"Java", "build.gradle.kts", gradleVersion},
	{"CMake", "CMakeLists.txt", lazyRegexp(`(?i)cmake_minimum_required\s*\(\s*VERSION\s+([\d.]+)`)},
}
