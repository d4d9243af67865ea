package project

import (
	"path"
	"strings"

	"ken/internal/repo"
)

// isRuleFile reports the documents that state rules.
func isRuleFile(file repo.Path) bool {
	return hasRules(file) && !isForeign(file)
}

func hasRules(file repo.Path) bool {
	base := file.Base()
	ext := strings.ToLower(path.Ext(base))
	switch base {
	case "AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules":
		return true
	case "copilot-instructions.md":
		return file.Dir().Base() == ".github"
	}
	if strings.HasSuffix(base, ".instructions.md") {
		return inDirNamed(file, ".github")
	}
	if ext == ".mdc" || ext == ".md" {
		if strings.HasSuffix(string(file.Dir()), ".cursor/rules") || strings.Contains(string(file), ".cursor/rules/") {
			return true
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.EqualFold(stem, "contributing") && (ext == ".md" || ext == ".rst" || ext == ".txt" || ext == ".adoc" || ext == "")
}

// ruleScope returns the directory that a document is about.
func ruleScope(file repo.Path) repo.Path {
	dir := string(file.Dir())
	if i := strings.Index("/"+dir+"/", "/.cursor/"); i >= 0 {
		return repo.Path(strings.TrimSuffix(dir[:i], "/"))
	}
	if i := strings.Index("/"+dir+"/", "/.github/"); i >= 0 {
		return repo.Path(strings.TrimSuffix(dir[:i], "/"))
	}
	if base := path.Base(dir); base == "docs" || base == "doc" || base == "Documentation" {
		return repo.Path(dir).Dir()
	}
	return repo.Path(dir)
}

