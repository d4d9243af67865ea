package project

import (
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// isRuleFile reports whether a file is a document with rules.
func isRuleFile(file repo.Path) bool {
	return (isAgentFile(file) || isGuide(file)) && !isForeign(file)
}

// isAgentFile reports whether a file is a document with rules for agents.
func isAgentFile(file repo.Path) bool {
	base := file.Base()
	switch base {
	case "AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules":
		return true
	case "copilot-instructions.md":
		return file.Dir().Base() == ".github"
	}
	if strings.HasSuffix(base, ".instructions.md") {
		return inDirNamed(file, ".github")
	}
	if ext := strings.ToLower(path.Ext(base)); ext == ".mdc" || ext == ".md" {
		return strings.HasSuffix(string(file.Dir()), ".cursor/rules") || strings.Contains(string(file), ".cursor/rules/")
	}
	return false
}

// isGuide reports whether a file is a document with rules for people.
func isGuide(file repo.Path) bool {
	if !isText(file) {
		return false
	}
	stem := ruleStem(file)
	if stem == "contributing" {
		return true
	}
	switch strings.ToLower(string(file.Dir())) {
	case "", "docs", "doc", "documentation", ".github":
	default:
		return false
	}
	switch stem {
	case "development", "developing", "developer-guide", "hacking", "styleguide", "style-guide", "coding-style", "code-style", "coding-standards",
		"conventions", "ai-policy", "pull-request-template":
		return true
	}
	return false
}

// isTemplate reports whether a file is the template of a pull request. Its comments are instructions for the author.
func isTemplate(file repo.Path) bool { return ruleStem(file) == "pull-request-template" }

// ruleStem returns the name of a document in lower case, without extension and with "-" for "_".
func ruleStem(file repo.Path) string {
	base := strings.ToLower(file.Base())
	return strings.ReplaceAll(strings.TrimSuffix(base, path.Ext(base)), "_", "-")
}

func isText(file repo.Path) bool {
	switch strings.ToLower(path.Ext(file.Base())) {
	case ".md", ".mdx", ".rst", ".txt", ".adoc", "":
		return true
	}
	return false
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
	if base := path.Base(dir); isAgentFile(file) {
		return repo.Path(dir)
	} else if base == "docs" || base == "doc" || base == "Documentation" {
		return repo.Path(dir).Dir()
	}
	return repo.Path(dir)
}

// A ruleDoc is a document with rules, and the directory that they are for.
type ruleDoc struct {
	file  repo.Path
	scope repo.Path
}

// ruleDocs returns the documents with rules for a path: those at or above it, and the guides that they link to.
func (p *Project) ruleDocs(file repo.Path) []ruleDoc {
	var list []ruleDoc
	add := func(d ruleDoc) {
		known := func(o ruleDoc) bool { return o.file == d.file }
		if !slices.ContainsFunc(list, known) {
			list = append(list, d)
		}
	}
	for _, f := range p.ruleFiles {
		if scope := ruleScope(f); file.Under(scope) {
			add(ruleDoc{f, scope})
		}
	}
	for _, d := range slices.Clone(list) {
		for _, linked := range p.linkedGuides(d.file) {
			add(ruleDoc{linked, d.scope})
		}
	}
	return list
}

var (
	linkTarget = lazyRegexp(`\[([^\]]*)\]\(\s*<?([^)\s>]+)|(?m:^\[([^\]]+)\]:\s*(\S+))|(?m:^\s*(?:[-*]\s+)?@([\w./-]+\.md)\s*$)|:doc:` + "`" + `(?:[^<` + "`" + `]*<)?/?([\w./-]+)>?` + "`")
	hostedFile = lazyRegexp(`^https?://(?:www\.)?(?:github|gitlab)\.com/[^/]+/[^/]+/(?:-/)?(?:blob|tree)/[^/]+/(.+)$`)
	guideName  = lazyRegexp(`contribut|develop|hacking|style|convention|guideline|coding|commit|pull-request|policy|testing|standard|practice|workflow|agents|rules`)
	otherName  = lazyRegexp(`conduct|security|governance|licen[sc]e|changelog|changes|readme|support|releas|sponsor|expense|funding|charter|privacy|membership`)
)

// linkedGuides returns the tracked guides that a document links to, by a path or by the address of a file on its host.
func (p *Project) linkedGuides(doc repo.Path) []repo.Path {
	if list, ok := p.linked[doc]; ok {
		return list
	}
	const most = 8
	var list []repo.Path
	for _, m := range linkTarget().FindAllStringSubmatch(string(p.text(doc)), maxNames) {
		text := strings.ToLower(m[1] + m[3])
		target := m[2] + m[4] + m[5] + m[6]
		if hosted := hostedFile().FindStringSubmatch(target); hosted != nil {
			target = "/" + hosted[1]
		}
		target, _, _ = strings.Cut(target, "#")
		f := p.linkedFile(doc, target)
		name := ruleStem(f) + " " + text
		if f == "" || f == doc || !isText(f) || isForeign(f) || !guideName().MatchString(name) || otherName().MatchString(name) {
			continue
		}
		if len(list) < most && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	p.linked[doc] = list
	return list
}

// linkedFile returns the tracked file that a link in a document leads to, "" for none.
func (p *Project) linkedFile(doc repo.Path, target string) repo.Path {
	dir := doc.Dir()
	if rest, ok := strings.CutPrefix(target, "/"); ok {
		dir, target = "", rest
	}
	if target == "" || strings.Contains(target, "://") {
		return ""
	}
	f := join(dir, target)
	if f == "" || p.has(f) {
		return f
	}
	return p.firstFile(f.Dir(), f.Base()+".md", f.Base()+".rst", f.Base()+".mdx")
}
