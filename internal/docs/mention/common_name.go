package mention

import (
	"slices"
	"strings"
)

// IsCommonName reports whether a mention may mean a file that any project has.
func (m *Mention) IsCommonName() bool {
	return m.Kind == Path && m.Form != Link && m.Form != Import && isCommonName(m.Name)
}

// isCommonName reports whether a bare name is a file name of any project. A document that names it usually means a file
// of the reader.
func isCommonName(name string) bool {
	base := strings.ToLower(name)
	if strings.Contains(base, "/") {
		return false
	}
	stem, _, _ := strings.Cut(strings.TrimPrefix(base, "."), ".")
	return slices.Contains(commonNames, base) || slices.Contains(commonStems, stem) || dotfiles.has(base)
}

var (
	commonStems = []string{
		"readme", "license", "licence", "copying", "changelog", "changes", "contributing", "authors", "notice", "todo",
		"claude", "agents", "gemini", "copilot-instructions", "makefile", "dockerfile", "docker-compose", "rakefile",
		"gemfile", "procfile", "vagrantfile", "justfile", "env", "config", "settings", "index", "main", "gitignore",
		"gitattributes", "editorconfig", "npmrc", "nvmrc", "eslintrc", "prettierrc", "babelrc",
		"prettierignore", "eslintignore", "dockerignore", "npmignore",
		"cursorrules", "windsurfrules", "clinerules", "roorules", "goosehints", "rules",
	}
	commonNames = []string{
		"package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "tsconfig.json", "go.mod", "go.sum",
		"cargo.toml", "cargo.lock", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini",
		"composer.json", "composer.lock", "pom.xml", "build.gradle", "cmakelists.txt", "build", "dist", "src", "lib",
		"test", "tests", "docs", "bin", "node_modules", "vendor", "tmp", "app.py", "test.py", "app.js", "server.js",
	}
)
