package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/repo"
)

// A Rule is a sentence or list item of a document that tells people or agents how to work.
type Rule struct {
	Text   string // one line without control characters, at most 240 characters
	Source repo.Path
	Line   int
	// General is set if the rule is about the whole repository, and neither its text nor its document is about
	// this path in particular.
	General bool
}

// maxRules is how many rules are listed for a path.
const maxRules = 12

// maxGeneral is how many of them may be about the whole repository.
const maxGeneral = 8

// maxFacts is how many of them may say what a path is, and not what to do.
const maxFacts = 3

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

// A ruleLine is a sentence or list item of a document.
type ruleLine struct {
	text    string
	line    int
	heading string
	row     bool // of a table: a rule only if it names the path
	binding bool // it says what to do
}

// How closely a rule is about a path; smaller is closer.
const (
	aboutFile = iota
	aboutDir
	aboutPattern
	aboutScope
	aboutAll
	aboutOtherName // it names a pattern that this path does not have
	aboutOtherPath // it names another file or directory
	aboutNothing
)

// Rules returns what documents above a path state for it, the most particular first: lines that name the path, its
// directory or a pattern of its name, then the rules of documents in directories above it, then those for the whole
// repository. There are at most twelve.
func (p *Project) Rules(file repo.Path) []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	type ranked struct {
		Rule
		about int
		depth int // of the directory that is named or that the document is about
		binds bool
		agent bool
	}
	var list []ranked
	isTest := p.isTest(file)
	for _, doc := range p.ruleFiles {
		scope := ruleScope(doc)
		if !file.Under(scope) {
			continue
		}
		globs, always, lines := p.ruleLines(doc)
		selected := len(globs) > 0 && !always
		rel, _ := relative(scope, file)
		if selected && !matchesAny(anywhere(globs), rel) {
			continue
		}
		forAgents := !strings.EqualFold(strings.TrimSuffix(doc.Base(), path.Ext(doc.Base())), "contributing")
		for _, l := range lines {
			about, depth := p.about(l.text, scope, file)
			// A rule such as "never edit gen.go" is for that file only; "update CHANGELOG.md" is for all.
			onlyThere := about == aboutOtherPath && (noTouch().MatchString(l.text) || !bindingWord().MatchString(l.text))
			if onlyThere || l.row && about > aboutPattern {
				continue
			}
			if about > aboutPattern && l.binding {
				inHeading, d := p.about(l.heading, scope, file)
				switch {
				case about == aboutOtherName || inHeading == aboutOtherPath || inHeading == aboutOtherName || isProcedure(l.text):
					about = aboutNothing
				case inHeading <= aboutPattern:
					about, depth = inHeading, d
				case isTest && strings.Contains(strings.ToLower(l.heading), "test"):
					about = aboutPattern
				case scope != "" || selected:
					about, depth = aboutScope, strings.Count(string(scope), "/")+1
				default:
					about = aboutAll
				}
			}
			if about > aboutAll {
				continue
			}
			list = append(list, ranked{Rule{l.text, doc, l.line, about == aboutAll}, about, depth, l.binding, forAgents})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		if c := cmp.Compare(a.about, b.about); c != 0 {
			return c
		}
		if c := cmp.Compare(b.depth, a.depth); c != 0 {
			return c
		}
		if a.binds != b.binds {
			return ahead(a.binds)
		}
		if a.agent != b.agent {
			return ahead(a.agent)
		}
		return 0
	})
	var rules []Rule
	general := 0
	facts := 0
	for _, r := range list {
		same := func(o Rule) bool { return o.Text == r.Text } // CLAUDE.md is often a copy of AGENTS.md
		if len(rules) == maxRules || r.General && general == maxGeneral || !r.binds && facts == maxFacts || slices.ContainsFunc(rules, same) {
			continue
		}
		if r.General {
			general++
		}
		if !r.binds {
			facts++
		}
		rules = append(rules, r.Rule)
	}
	return rules
}

// ahead orders two elements of which one fulfils a condition: the first, if holds is set.
func ahead(holds bool) int {
	if holds {
		return -1
	}
	return 1
}

// anywhere makes globs without a slash match in all directories.
func anywhere(globs []string) []string {
	out := make([]string, len(globs))
	for i, glob := range globs {
		if !strings.Contains(strings.TrimSuffix(glob, "/"), "/") {
			glob = "**/" + glob
		}
		out[i] = strings.TrimPrefix(glob, "/")
	}
	return out
}

var (
	codeSpan    = later("`([^`]+)`")
	pathWord    = later(`(?:^|[\s("'])(\.{0,2}[\w.@*-]*/[\w.@*{},/-]*)`)
	markdownURL = later(`!?\[([^\]]*)\]\([^)]*\)|!?\[([^\]]*)\]\[[^\]]*\]`)
)

// about returns how closely a text is about a file by what it names, and the depth of the directory that it names.
func (p *Project) about(text string, scope, file repo.Path) (int, int) {
	best, depth := aboutNothing, 0
	take := func(about, d int) {
		if about < best || about == best && d > depth {
			best, depth = about, d
		}
	}
	try := func(word string, code bool) {
		word = strings.TrimRight(word, ".,;:!?)'\"")
		word = strings.TrimSuffix(word, "/...")
		dirOnly := strings.HasSuffix(word, "/")
		word = strings.Trim(strings.TrimPrefix(word, "./"), "/")
		if word == "" || strings.Contains(word, "//") {
			return
		}
		if strings.ContainsAny(word, "*{") {
			if strings.Trim(word, "*./{}") == "" {
				return
			}
			rel, _ := relative(scope, file)
			globs := anywhere([]string{word})
			if matchesAny(globs, string(file)) || matchesAny(globs, rel) {
				take(aboutPattern, strings.Count(word, "/"))
			} else if strings.ContainsAny(word, "./") {
				take(aboutOtherName, 0)
			}
			return
		}
		whole := strings.Contains(word, "/") || dirOnly
		for _, named := range []repo.Path{join(scope, word), join("", word)} {
			switch {
			case named == "":
			case named == file && (whole || code):
				take(aboutFile, 0)
			case whole && file.Under(named) && named != file:
				take(aboutDir, strings.Count(string(named), "/")+1)
			case whole && (p.has(named) || p.isDir(named)):
				take(aboutOtherPath, 0)
			}
		}
		if !code || dirOnly {
			return
		}
		if strings.Contains(word, ".") && word == file.Base() && word[0] != '.' {
			take(aboutFile, 0)
		}
		if word[0] == '.' && word == path.Ext(file.Base()) {
			take(aboutPattern, 0)
		}
	}
	for _, m := range codeSpan().FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			try(word, true)
		}
	}
	for _, m := range pathWord().FindAllStringSubmatch(codeSpan().ReplaceAllString(text, " "), -1) {
		try(m[1], false)
	}
	return best, depth
}

// ruleLines returns the lines of a document, with the globs of the files that it is for if its head has some.
func (p *Project) ruleLines(doc repo.Path) (globs []string, always bool, lines []ruleLine) {
	text := string(p.text(doc))
	skipped := 0
	if head, rest, ok := frontMatter(text); ok {
		globs, always = ruleGlobs(head)
		skipped = strings.Count(text[:len(text)-len(rest)], "\n")
		text = rest
	}
	if known, ok := p.rules[doc]; ok {
		return globs, always, known
	}
	lines = splitRules(text, strings.EqualFold(path.Ext(doc.Base()), ".rst"))
	for i := range lines {
		lines[i].line += skipped
	}
	p.rules[doc] = lines
	return globs, always, lines
}

// frontMatter splits the YAML head off a document.
func frontMatter(text string) (head, rest string, ok bool) {
	body, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, false
	}
	end := strings.Index("\n"+body, "\n---\n")
	if end < 0 {
		return "", text, false
	}
	return body[:max(end-1, 0)], body[end+len("---\n"):], true
}

// ruleGlobs returns the globs in the head of a rule file. Cursor's are often no YAML, since they begin with a star.
func ruleGlobs(head string) (globs []string, always bool) {
	for line := range strings.Lines(head) {
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok:
		case key == "alwaysApply":
			always = value == "true"
		case (key == "globs" || key == "applyTo") && value != "":
			value = strings.Trim(value, "[]")
			for glob := range strings.SplitSeq(value, ",") {
				globs = append(globs, strings.Trim(strings.TrimSpace(glob), `"'`))
			}
		}
	}
	if len(globs) == 0 {
		var root yaml.Node
		if yaml.Unmarshal([]byte(head), &root) == nil {
			for _, item := range yamlItems(yamlAt(&root, "globs")) {
				if text := yamlText(item); text != "" {
					globs = append(globs, text)
				}
			}
		}
	}
	return globs, always
}

var (
	listMark      = later(`^(\s*)(?:[-*+•]|\d{1,3}[.)]|#\.)\s+(.*)$`)
	headingMark   = later(`^#{1,6}\s+(.*?)\s*#*$`)
	underlineMark = later(`^(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,}|\+{3,})\s*$`)
	onlyLink      = later(`^\[[^\]]*\]\([^)]*\)\.?$|^\[[^\]]*\]\[[^\]]*\]\.?$`)
	emphasis      = later("(^|[\\s(])[*_]([^*_`\\s](?:[^*_`]*[^*_`\\s])?)[*_]")
	sentenceEnd   = later("([.!?])\\s+([A-Z`*\"(])")
	bindingWord   = later(`(?i)\b(must|never|always|do not|don['’]t|should|shouldn['’]t|shall|(?:is|are) required|(?:is|are) expected to|avoid|prefer|ensure|make sure|cannot|not allowed|forbidden|mandatory)\b`)
	imperative    = later(`^(?i)(?:please\s+)?(?:use|run|add|keep|write|follow|put|name|update|place|include|document|format|import|return|handle|test|check|make|wrap|declare|register|regenerate|sign|rebase|squash|set|call|pass|start|prefix|commit|treat|no)\b`)
	chat          = later(`(?i)^(?:although|so,|you may|you can|feel free|don['’]t (?:worry|hesitate|be)|if you (?:have|find|would|want|are|need|think|like|propose)|we (?:will|are|would)|it (?:is|was))\b|\bI\b|\b(?:could|will|can) always\b|\bplease try\b|\bwe['’](?:d|ll|re)\b`)
	procedure     = later(`(?i)\b(code of conduct|bug reports?|issues?|discord|slack|mailing list|forum|sponsor\w*|donat\w*|thanks?|welcome|stack overflow|fork the|github account|labels?|maintainers?|screenshots?|security@|see instructions)\b`)
	ruleHeading   = later(`(?i)\b(rules?|conventions?|style|guidelines?|standards?|requirements?|principles|policy)\b`)
	noTouch       = later(`(?i)\b(edit|modify|change|touch|format|delete|remove|rename|move)\b`)
	htmlComment   = later(`(?s)<!--.*?-->`)
)

// isProcedure reports sentences about how to reach people, which no change of code has to follow.
func isProcedure(text string) bool { return procedure().MatchString(text) }

// splitRules returns the sentences and list items of a Markdown or reStructuredText document.
func splitRules(text string, rst bool) []ruleLine {
	const maxLines = 2000
	const maxBlock = 4 << 10 // longer paragraphs are no rules
	var out []ruleLine
	var block []string
	blockLine := 0
	item := false
	row := false
	heading := ""
	indent, leadIndent := 0, 0
	lead := "" // an item that announces those below it: "First line:"
	flush := func() {
		lines := block
		block = nil
		whole := strings.Join(lines, " ")
		if len(whole) > maxBlock {
			return
		}
		whole = plainText(whole)
		if whole == "" || len(out) >= maxLines || len(lines) == 1 && onlyLink().MatchString(lines[0]) {
			return
		}
		parts := []string{whole}
		if !item || len([]rune(whole)) > maxText {
			parts = sentences(whole)
		}
		if item && lead != "" && indent > leadIndent {
			parts[0] = lead + " " + parts[0]
		} else {
			lead = ""
		}
		if item && strings.HasSuffix(whole, ":") && len(strings.Fields(whole)) <= 6 {
			lead, leadIndent = whole, indent
			return
		}
		at := 0
		for _, part := range parts {
			at = startLine(lines, at, part)
			words := len(strings.Fields(part))
			if words < 2 || words < 4 && !item {
				continue
			}
			binding := bindingWord().MatchString(part) || item && (imperative().MatchString(part) || ruleHeading().MatchString(heading))
			binding = binding && !chat().MatchString(part)
			out = append(out, ruleLine{cleanText(part), blockLine + at, heading, row, binding})
		}
		row = false
	}
	text = htmlComment().ReplaceAllStringFunc(text, func(comment string) string {
		return strings.Repeat("\n", strings.Count(comment, "\n"))
	})
	fence := ""
	var code []string
	literal := -1 // the indentation that ends a literal block of reStructuredText; -1 outside
	n := 0
	previous := ""
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \t\n")
		trimmed := strings.TrimSpace(line)
		margin := len(line) - len(strings.TrimLeft(line, " \t"))
		if literal >= 0 {
			if trimmed == "" || margin > literal {
				continue
			}
			literal = -1
		}
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
				addCode(out, code)
			} else if trimmed != "" {
				code = append(code, trimmed)
			}
			continue
		}
		switch m := listMark().FindStringSubmatch(line); {
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			flush()
			fence, code = trimmed[:3], nil
		case trimmed == "":
			flush()
			item = false
		case headingMark().MatchString(line):
			flush()
			item = false
			heading = plainText(headingMark().FindStringSubmatch(line)[1])
		case underlineMark().MatchString(line) && previous != "" && len(block) == 1 && !item:
			heading = plainText(previous)
			block = nil
		case strings.HasPrefix(trimmed, ".. ") && rst:
			flush()
			literal = margin
		case m != nil:
			flush()
			item = true
			indent = len(m[1])
			blockLine = n
			block = append(block, m[2])
		case strings.HasPrefix(trimmed, "|"):
			flush()
			cells := strings.Trim(trimmed, "|")
			if strings.Trim(cells, "|-: ") != "" {
				item, row, blockLine = true, true, n
				block = append(block, strings.ReplaceAll(cells, "|", "–"))
				flush()
			}
			item, row = false, false
		case margin >= 4 && len(block) == 0 && !item:
			// An indented block is code.
		default:
			if len(block) == 0 {
				blockLine = n
			}
			block = append(block, strings.TrimLeft(trimmed, "> "))
		}
		if rst && strings.HasSuffix(trimmed, "::") {
			if len(block) > 0 {
				block[len(block)-1] = strings.TrimRight(block[len(block)-1], ":")
			}
			flush()
			literal = margin
		}
		previous = trimmed
	}
	flush()
	return out
}

// addCode adds the one line of a code block to the sentence that announces it.
func addCode(lines []ruleLine, code []string) {
	if len(lines) == 0 || len(code) != 1 {
		return
	}
	last := &lines[len(lines)-1]
	if strings.HasSuffix(last.text, ":") && !strings.Contains(code[0], "`") {
		last.text = cleanText(last.text + " `" + strings.TrimPrefix(code[0], "$ ") + "`")
	}
}

// startLine returns which of the lines a sentence begins in, from a line on.
func startLine(lines []string, from int, sentence string) int {
	words := strings.Fields(sentence)
	start := strings.Join(words[:min(len(words), 2)], " ")
	for i := from; i < len(lines); i++ {
		// The second word may stand in the next line.
		line := plainText(lines[i])
		if strings.Contains(line, start) || len(words) > 1 && strings.HasSuffix(line, words[0]) {
			return i
		}
	}
	return from
}

// plainText removes links, emphasis and check boxes from a line of Markdown.
func plainText(text string) string {
	text = markdownURL().ReplaceAllString(text, "$1$2")
	text = strings.NewReplacer("**", "", "[ ] ", "", "[x] ", "", "``", "`").Replace(text)
	text = emphasis().ReplaceAllString(text, "$1$2")
	return strings.TrimSpace(text)
}

// sentences splits a text at the ends of sentences.
func sentences(text string) []string {
	var out []string
	for {
		at := sentenceEnd().FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		out = append(out, strings.TrimSpace(text[:at[3]]))
		text = text[at[4]:]
	}
	return append(out, strings.TrimSpace(text))
}
