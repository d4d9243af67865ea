package project

import (
	"slices"
	"strings"

	"ken/internal/repo"
)

// installCommands adds the commands that install the dependencies of a directory.
func (p *Project) installCommands(dir repo.Path, add func(candidate)) {
	offer := func(run string, source repo.Path, lang string, order int) {
		words := strings.Fields(run)
		add(candidate{
			Command: Command{Run: run, in: dir, Source: source},
			purpose: forInstall, lang: lang, key: installKey(words[0], words), order: order,
		})
	}
	p.nodeInstall(dir, offer)
	p.pythonInstall(dir, offer)
	vendored := p.has(join(dir, "vendor/modules.txt"))
	if sum := p.firstFile(dir, "go.sum"); sum != "" && p.has(join(dir, "go.mod")) && !vendored {
		offer("go mod download", sum, "go", orderImplied)
	}
	if file := p.firstFile(dir, "Cargo.toml"); file != "" {
		if root, ok := p.cargoWorkspace(dir); !ok || root == dir {
			offer("cargo fetch", file, "rust", orderImplied)
		}
	}
	isMavenRoot := dir == "" || !p.has(join(dir.Dir(), "pom.xml"))
	if file := p.firstFile(dir, "pom.xml"); file != "" && isMavenRoot {
		tool := "mvn"
		if p.has(join(dir, "mvnw")) {
			tool = "./mvnw"
		}
		offer(tool+" install -DskipTests", file, "jvm", orderImplied)
	}
}

// nodeInstall adds the command of the package manager. A member of a workspace is installed with the workspace.
func (p *Project) nodeInstall(dir repo.Path, offer func(string, repo.Path, string, int)) {
	pkg := p.nodePackage(dir)
	if pkg == nil || pkg.member {
		return
	}
	lock := p.firstFile(dir, "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json", "npm-shrinkwrap.json")
	source := pkg.file
	if lock != "" {
		source = lock
	}
	needs := false
	for _, key := range []string{"dependencies", "devDependencies", "workspaces"} {
		needs = needs || pkg.doc.Has(key)
	}
	run := pkg.manager + " install"
	if pkg.manager == "npm" && lock != "" {
		run = "npm ci"
	}
	if needs || lock != "" {
		offer(run, source, "js", orderImplied)
	}
}

// pythonInstall adds the command of the project's own tool, else pip.
func (p *Project) pythonInstall(dir repo.Path, offer func(string, repo.Path, string, int)) {
	pyproject := p.firstFile(dir, "pyproject.toml")
	doc := p.document(pyproject)
	for _, m := range pythonManagers {
		if source := p.usesManager(dir, m); source != "" {
			offer(m.install, source, "python", orderImplied)
			return
		}
	}
	if file := p.firstFile(dir, "Pipfile"); file != "" {
		offer("pipenv install --dev", file, "python", orderImplied)
		return
	}
	if doc.Has("tool", "hatch", "envs") {
		offer("hatch env create", pyproject, "python", orderImplied+1)
	}
	extra := ""
	for _, name := range []string{"dev", "develop", "development", "all", "test", "tests", "testing"} {
		if doc.Has("project", "optional-dependencies", name) {
			extra = "[" + name + "]"
			break
		}
	}
	setup := p.firstFile(dir, "setup.py")
	switch {
	case doc.Has("build-system") || doc.Has("project", "name"):
		run := "pip install -e " + quoteWord("."+extra)
		if doc.Has("dependency-groups", "dev") {
			run += " --group dev"
		}
		offer(run, pyproject, "python", orderImplied)
	case setup != "":
		offer("pip install -e .", setup, "python", orderImplied)
	}
	if file := p.firstFile(dir, "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "dev_requirements.txt", "requirements/dev.txt",
		"requirements/develop.txt", "requirements/development.txt", "requirements-test.txt", "requirements/test.txt", "requirements/tests.txt",
		"requirements.txt", "requirements/base.txt", "requirements/default.txt"); file != "" {
		rel, _ := relative(dir, file)
		offer("pip install -r "+quotePath(repo.Path(rel)), file, "python", orderImplied+1)
	}
}

// installs reports whether the words of a command install the dependencies of the project, and not one package.
func installs(tool string, args []string) bool {
	named := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			named += " " + a
		}
	}
	switch tool + named {
	case "npm ci", "npm install", "npm i", "pnpm install", "pnpm i", "yarn install", "yarn", "bun install", "uv sync", "poetry install", "pdm install",
		"pipenv install", "rye sync", "bundle install", "bundle", "composer install", "go mod download", "cargo fetch", "dotnet restore", "mix deps.get":
		return !slices.Contains(args, "-g") && !slices.Contains(args, "--global") && !slices.Contains(args, "--version")
	}
	if tool == "uv" && len(args) > 1 && args[0] == "pip" {
		tool, args = "pip", args[1:]
	}
	if tool != "pip" && tool != "pip3" || len(args) == 0 || args[0] != "install" {
		return false
	}
	own := func(a string) bool {
		return a == "-e" || a == "--editable" || a == "-r" || a == "--requirement" || a == "." || strings.HasPrefix(a, ".[") || strings.HasPrefix(a, "-r")
	}
	return slices.ContainsFunc(args, own)
}

// installLanguages has the languages of package managers.
var installLanguages = map[string]string{
	"npm": "js", "pnpm": "js", "yarn": "js", "bun": "js",
	"pip": "python", "pip3": "python", "uv": "python", "poetry": "python", "pdm": "python", "pipenv": "python", "rye": "python",
	"bundle": "ruby", "composer": "php", "go": "go", "cargo": "rust",
}

// installKey returns a key that is the same for all calls of a package manager, except pip: its arguments decide what
// it installs.
func installKey(tool string, words []string) string {
	lang := installLanguages[tool]
	if tool == "pip" || tool == "pip3" || lang == "" {
		return strings.Join(words, " ")
	}
	return "install " + lang
}
