package project

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/repo"
)

// A ruleLine is a sentence or list item of a document.
type ruleLine struct {
	text    string
	line    int
	heading string
	section string // the headings above, without the title of the document
	bold    bool
	row     bool // of a table: a rule only if it names the path
	force   int  // how much it obliges; 0 if it does not say what to do
	topic   int  // in topics
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
	if isTemplate(doc) {
		text = strings.NewReplacer("<!--", "", "-->", "").Replace(text)
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
	listMark      = lazyRegexp(`^(\s*)(?:[-*+•]|\d{1,3}[.)]|#\.)\s+(.*)$`)
	headingMark   = lazyRegexp(`^#{1,6}\s+(.*?)\s*#*$`)
	underlineMark = lazyRegexp(`^(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,}|\+{3,})\s*$`)
	onlyLink      = lazyRegexp(`^\[[^\]]*\]\([^)]*\)\.?$|^\[[^\]]*\]\[[^\]]*\]\.?$`)
	emphasis      = lazyRegexp("(^|[\\s(])[*_]([^*_`\\s](?:[^*_`]*[^*_`\\s])?)[*_]")
	sentenceEnd   = lazyRegexp("([.!?])\\s+([A-Z`*\"(])")
	boldText      = lazyRegexp(`\*\*([^*]+)\*\*`)
	htmlComment   = lazyRegexp(`(?s)<!--.*?-->`)
)

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
	var above []string // headings below the title, one for each level
	indent, leadIndent := 0, 0
	lead := "" // an item that announces those below it: "First line:"
	flush := func() {
		lines := block
		block = nil
		whole := strings.Join(lines, " ")
		if len(whole) > maxBlock {
			return
		}
		bold := boldText().FindAllStringSubmatch(whole, maxNames)
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
		if item && len(out) > 0 && strings.HasPrefix(whole, "`") && strings.HasSuffix(out[len(out)-1].text, ":") {
			// The first of the commands that a sentence announces belongs to it.
			out[len(out)-1].text = cleanText(out[len(out)-1].text + " " + codeSpan().FindString(whole))
		}
		at := 0
		for _, part := range parts {
			at = startLine(lines, at, part)
			words := len(strings.Fields(part))
			if words < 2 || words < 4 && !item {
				continue
			}
			out = append(out, ruleLine{
				text: cleanText(part), line: blockLine + at, heading: heading, section: strings.Join(above, " / "), bold: hasAny(part, bold), row: row,
				force: forceOf(part, heading, item), topic: topicOf(part),
			})
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
			if level := len(trimmed) - len(strings.TrimLeft(trimmed, "#")); level > 1 {
				above = append(above[:min(len(above), level-2)], heading)
			} else {
				above = nil
			}
		case underlineMark().MatchString(line) && previous != "" && len(block) == 1 && !item:
			heading = plainText(previous)
			above = []string{heading}
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

// hasAny reports whether a sentence contains one of the matches that has several words.
func hasAny(part string, matches [][]string) bool {
	return slices.ContainsFunc(matches, func(m []string) bool {
		return strings.Count(m[1], " ") > 2 && strings.Contains(part, plainText(m[1]))
	})
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
		// The second word may be on the next line.
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
