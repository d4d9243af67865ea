package mention

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"ken/internal/markup"
	"ken/internal/repo"
)

// A Role is the purpose of a document. The zero Role is not a document.
type Role string

// The roles, in the order in which mistakes are most costly.
const (
	Agent    Role = "agent"    // instructions, skills, commands and rules for agents
	Guide    Role = "guide"    // read before working: README, CONTRIBUTING, ARCHITECTURE
	Decision Role = "decision" // a record of a decision
	Page     Role = "page"     // any other document
)

// RoleOf returns the role of a file, "" if it is not a document.
func RoleOf(p repo.Path) Role {
	base := strings.ToLower(p.Base())
	dirs := strings.Split(strings.ToLower(string(p.Dir())), "/")
	if agentFiles.has(base) {
		return Agent
	}
	stem, ext := base, path.Ext(base)
	stem = strings.TrimSuffix(stem, ext)
	switch {
	case markup.FormatOf(base) == markup.Markdown:
		for i, dir := range dirs {
			if agentDirs.has(dir) || dir == ".github" && i+1 < len(dirs) && githubDirs.has(dirs[i+1]) {
				return Agent
			}
		}
		if guides.has(stem) {
			return Guide
		}
		for _, dir := range dirs {
			if dir == "adr" || dir == "adrs" || dir == "decisions" || dir == "rfcs" {
				return Decision
			}
		}
		return Page
	case guides.has(base), plainText.has(ext) && guides.has(stem):
		return Guide
	case ext == ".rst" || ext == ".adoc" || ext == ".asciidoc", ext == ".txt" && amongDocs(dirs) && !isList(stem):
		return Page
	}
	return ""
}

// IsDocument reports whether a file is a document that ken checks.
func IsDocument(p repo.Path) bool { return RoleOf(p) != "" }

// IsUnreadFormat reports whether a file is in a directory of documents, and is prose in a format that ken does not
// read.
func IsUnreadFormat(p repo.Path) bool {
	lower := strings.ToLower(string(p))
	return otherForms.has(path.Ext(lower)) && !IsDocument(p) && amongDocs(strings.Split(path.Dir(lower), "/"))
}

// amongDocs reports whether the elements of a path include a directory of documents.
func amongDocs(dirs []string) bool { return slices.ContainsFunc(dirs, docDirs.has) }

// isList reports whether the name of a text file is that of a list for programs.
func isList(stem string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == '.' }), listWords.has)
}

// IsMarkdown reports whether a document is read as Markdown. Others are read as lines with code spans.
func IsMarkdown(p repo.Path) bool { return markup.FormatOf(string(p)) == markup.Markdown }

var (
	plainText = lexicon{text: ".rst .adoc .asciidoc .txt"}

	docDirs    = lexicon{text: "doc docs documentation"}
	otherForms = lexicon{text: ".org .tex .texi .texinfo .textile .wiki .mediawiki .pod .rdoc .typ .ipynb .html .htm"}
	listWords  = lexicon{text: "requirements constraints cmakelists robots wordlist spelling words dictionary licenses license sitemap"}

	agentFiles = lexicon{text: `claude.md claude.local.md agents.md agents.override.md agent.md gemini.md qwen.md codex.md
		copilot-instructions.md skill.md .cursorrules .windsurfrules .clinerules .roorules .goosehints .rules
		llms.txt conventions.md`}
	agentDirs = lexicon{text: `.claude .cursor .codex .agents .agent .gemini .windsurf .clinerules .roo .opencode .continue .kiro
		.junie .amazonq .trae skills agents prompts`}
	githubDirs = lexicon{text: "instructions prompts chatmodes agents skills"}

	guides = lexicon{text: `readme contributing architecture design development developing hacking building install installing
		installation testing maintaining maintainers onboarding structure overview getting-started getting_started
		quickstart style styleguide support security`}
)

// IsHistorical reports whether a document describes the past or another project. Such documents are checked only on
// demand.
func IsHistorical(p repo.Path) bool {
	parts := strings.Split(strings.ToLower(string(p)), "/")
	base := parts[len(parts)-1]
	page := RoleOf(p) == Page
	if slices.ContainsFunc(parts, func(part string) bool { return requestForms.has(strings.TrimSuffix(part, path.Ext(part))) }) {
		return false // a form that people fill in now
	}
	for _, dir := range parts[:len(parts)-1] {
		if elsewhere.has(dir) || ofRelease(dir) || page && records.has(dir) {
			return true
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	parts = strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' })
	whole := strings.Join(parts, "")
	last := len(parts) - 1
	return pastStems.has(whole) || strings.Contains(whole, "releasenotes") || strings.Contains(string(p), "relnotes") || slices.ContainsFunc(parts, pastWords.has) ||
		page && (last > 0 && recordWords.has(parts[last]) || dated(parts)) ||
		mayBeChangelog(p) && (p.Dir() == "" || allCapitals(p.Base()))
}

// ofRelease reports whether a directory has the documents of one release, which do not change later.
func ofRelease(dir string) bool {
	number, ok := strings.CutPrefix(dir, "version-")
	if !ok {
		number, ok = strings.CutPrefix(dir, "v")
		ok = ok && strings.Trim(number, "0123456789.x") == ""
	}
	return strings.HasPrefix(dir, "release-notes") || strings.HasPrefix(dir, "release_notes") ||
		strings.HasSuffix(dir, "versioned_docs") || ok && number != "" && isDigit(number[0])
}

// dated reports whether the words of a name include a date. A document that is named for a day is not maintained
// afterwards.
func dated(words []string) bool {
	const year, month, day = 4, 2, 2
	digits := func(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789") == "" }
	for i, w := range words {
		if digits(w, year+month+day) && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20")) {
			return true
		}
		if i+2 < len(words) && digits(w, year) && digits(words[i+1], month) && digits(words[i+2], day) {
			return true
		}
	}
	return false
}

// mayBeChangelog reports whether a name may be that of a changelog. history.md may also be another page. At the
// root and in capitals it always is a changelog.
func mayBeChangelog(p repo.Path) bool {
	base := strings.ToLower(p.Base())
	words := strings.FieldsFunc(strings.TrimSuffix(base, path.Ext(base)), func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' })
	return len(words) == 1 && chronicles.has(words[0]) || slices.Contains(words, "history") || slices.Contains(words, "news")
}

// IsChangelog reports whether a document that may be a changelog is one: its headings are versions or dates.
func IsChangelog(p repo.Path, content []byte) bool {
	const enough = 2
	if !mayBeChangelog(p) {
		return false
	}
	n := 0
	var above []byte
	for line := range bytes.Lines(content) {
		head := bytes.TrimLeft(line, "#=")
		switch {
		case len(head) == len(line):
			head = nil // unless the next line underlines it
			if len(bytes.Trim(line, "-~\r\n")) == 0 {
				head = above
			}
		case len(bytes.TrimSpace(head)) == 0:
			head = above
		}
		above = line
		if head = bytes.TrimLeft(head, " [vV"); len(head) > 0 && isDigit(head[0]) {
			if n++; n >= enough {
				return true
			}
		}
	}
	return false
}

// allCapitals reports whether the name of a file, without its extension, is in capitals.
func allCapitals(base string) bool {
	stem := strings.TrimSuffix(base, path.Ext(base))
	return stem == strings.ToUpper(stem)
}

var (
	// elsewhere are directories whose documents are about other projects or times.
	elsewhere = lexicon{text: `testdata fixtures fixture __fixtures__ __snapshots__ snapshots node_modules vendor vendored third_party
		third-party thirdparty external deps bower_components changelog changelogs .changeset changes release-notes
		releasenotes release_notes releases newsfragments archive archives archived attic old history legacy migrations migration
		upgrade upgrading templates template examples-data postmortems newsletters blog _posts`}
	// records are directories of pages about one day, or of benchmark data. Guides and instructions in them are
	// maintained.
	records = lexicon{text: "issues .issues plans planning reports audits bench benchmark benchmarks chats conversations transcripts sep seps proposals"}
	// requestForms are the templates that hosts show when a request is opened.
	requestForms = lexicon{text: "pull_request_template merge_request_templates merge_request_template issue_template"}
	chronicles   = lexicon{text: `changes releases archive archived`}
	pastStems    = lexicon{text: `breakingchanges whatsnew`}
	pastWords    = lexicon{text: `changelog migration migrations migrating migrate upgrade upgrading deprecated deprecation deprecations
		postmortem template old`}
	// recordWords are the last words in the names of such pages.
	recordWords = lexicon{text: "report issues findings audit plan phases prd retrospective"}
)
