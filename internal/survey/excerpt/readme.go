package excerpt

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// ReadmeNames are the names of READMEs, in the order in which ken reads them.
var ReadmeNames = []string{"readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme.adoc", "readme"}

// IsReadme reports whether a file name is that of a README.
func IsReadme(base string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(base), ".")
	return stem == "readme"
}

// A Readme is a README in Markdown, reStructuredText, AsciiDoc or plain text, reduced to its title and its prose.
type Readme struct {
	title      string // its first heading
	paragraphs []paragraph
	text       string // all of it
}

// A paragraph is prose of a README: no heading, list, table, quotation, code, badge or navigation.
type paragraph struct {
	heading string // heading above it, "" for the title
	nth     int    // number of headings before it
	text    string
}

// readmeHeadings is the number of headings under which Lead looks for a description.
const readmeHeadings = 4

// Lead returns the first sentence that describes the directory: from the first paragraph under the title, else from
// one under a heading such as "About" or "Overview", else from one under the first headings that are not off topic,
// such as "Install".
func (r *Readme) Lead() string {
	underTitle := func(p *paragraph) bool { return p.heading == "" }
	underAbout := func(p *paragraph) bool {
		low := strings.ToLower(p.heading)
		return slices.ContainsFunc([]string{"about", "introduc", "overview", "what is", "summary", "purpose"}, func(w string) bool { return strings.Contains(low, w) })
	}
	early := func(p *paragraph) bool { return p.nth <= readmeHeadings && !offTopic(p.heading) }
	for _, fits := range []func(*paragraph) bool{underTitle, underAbout, early} {
		for i := range r.paragraphs {
			p := &r.paragraphs[i]
			if !fits(p) {
				continue
			}
			text := StripMarkup(FirstSentence(p.text))
			isTitle := strings.Count(text, " ") <= 1 && !strings.HasSuffix(text, ".")
			if IsDescription(text) && !isTitle {
				return text
			}
		}
	}
	return ""
}

// DropMentions removes the paragraphs that contain one of some texts.
func (r *Readme) DropMentions(texts []string) {
	r.paragraphs = slices.DeleteFunc(r.paragraphs, func(p paragraph) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(p.text, text) })
	})
}

// IsAboutOther reports whether the README does not describe its directory: it is an unedited template, or its title
// is the name of another package.
func (r *Readme) IsAboutOther(names []string) bool {
	low := strings.ToLower(r.text)
	for _, phrase := range templatePhrases {
		if strings.Contains(low, phrase) {
			return true
		}
	}
	title := strings.Trim(r.title, "` ")
	if !packageName().MatchString(title) {
		return false
	}
	for _, name := range names {
		if samePackage(title, name) {
			return false
		}
	}
	// The root may have any name. Elsewhere a title such as create-app names another package.
	return len(names) > 0 && names[0] != "" && strings.ContainsAny(title, "-_/@") || r.installs(title) && !slices.Contains(names, "")
}

// templatePhrases are sentences of generated READMEs, in lower case.
var templatePhrases = []string{
	"this project was bootstrapped with", "project bootstrapped with [`create-", "project bootstrapped with `create-", "todo: write a gem description",
	"welcome to your new gem", "a new flutter project", "this project was generated with [angular cli]", "this template should help get you started",
	"this template provides a minimal setup", "everything you need to build a svelte project", "this project was generated using",
	"this is a starter template", "delete this and the text above", "todo: delete this",
}

// packageName matches a title of one word, like the name of a package.
var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@?[a-z0-9][a-z0-9._/-]*$`) })

// samePackage reports whether a title may mean a package: without case, punctuation and scope, one name contains
// the other.
func samePackage(title, name string) bool {
	plain := func(s string) string {
		s = strings.ToLower(s[strings.LastIndexByte(s, '/')+1:])
		return strings.Map(func(c rune) rune {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				return c
			}
			return -1
		}, s)
	}
	a, b := plain(title), plain(name)
	return a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a))
}

// installs reports whether the README says how to install a package of that name.
func (r *Readme) installs(name string) bool {
	for _, command := range []string{"npm install ", "npm i ", "yarn add ", "pnpm add ", "pip install ", "cargo add ", "gem install "} {
		if strings.Contains(r.text, command+name) {
			return true
		}
	}
	return false
}

// isPlaceholder reports whether a text is a placeholder for a description, or says that the project is a fork or was
// moved.
func isPlaceholder(text string) bool {
	low := strings.ToLower(text)
	for _, start := range [...]string{
		"todo", "fixme", "description", "add description", "add your description", "your description", "a short description", "write a ", "my new ", "a new flutter",
		"this is a fork", "this repository is a fork", "a fork of", "fork of", "forked from", "this repo is a fork", "this project is a fork", "mirror of ", "this is a mirror",
		"this repository is a mirror", "no description", "insert ", "placeholder",
		"deprecated", "this project is no longer", "this project is deprecated", "this project has moved", "this repository has moved", "this repository has been archived",
		"this package is deprecated", "this repository is no longer", "moved to ",
	} {
		if strings.HasPrefix(low, start) {
			return true
		}
	}
	return strings.Contains(low, "${") || strings.Contains(low, "{{") || strings.Contains(low, "bootstrapped with")
}

// ParseReadme parses a README line by line. Lines that it does not understand are not part of a paragraph.
func ParseReadme(content string) *Readme {
	p := &readmeParser{Readme: &Readme{text: content}, asciidoc: strings.HasPrefix(content, "= ")}
	content = comments().ReplaceAllString(frontMatter().ReplaceAllString(content, ""), "")
	p.lines = strings.Split(content, "\n")
	for p.at = 0; p.at < len(p.lines); p.at++ {
		p.line()
	}
	p.flush()
	return p.Readme
}

var comments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`) })

var frontMatter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)\A---\n.*?\n---\n`) })

type readmeParser struct {
	*Readme
	lines []string
	at    int
	// asciidoc says that four dashes begin a code block; elsewhere they are a rule.
	asciidoc bool
	fence    string // the end of the current code block, "" outside
	skips    bool   // the current block is no prose
	current  []string
	heading  string
	nth      int
}

// line parses one line.
func (p *readmeParser) line() {
	line := strings.TrimRight(p.lines[p.at], " \t")
	plain := strings.TrimSpace(line)
	switch {
	case p.fence != "":
		if strings.HasPrefix(plain, p.fence) {
			p.fence = ""
		}
	case strings.HasPrefix(plain, "```"), strings.HasPrefix(plain, "~~~"):
		p.flush()
		p.fence = plain[:3]
	case plain == "----" && p.asciidoc:
		p.flush()
		p.fence = plain
	case plain == "":
		p.flush()
	case strings.HasPrefix(plain, "#") && strings.HasPrefix(strings.TrimLeft(plain, "#"), " "):
		p.title(strings.Trim(strings.TrimRight(plain, "#"), "# "))
	case strings.HasPrefix(plain, "= ") || strings.HasPrefix(plain, "== "):
		p.title(strings.Trim(plain, "= "))
	case strings.HasPrefix(strings.ToLower(plain), "<h") && len(plain) > 2 && plain[2] >= '1' && plain[2] <= '6':
		p.title(StripMarkup(plain))
	case isRuled(plain):
		p.underline()
	case len(p.current) == 0 && p.isBlock(line, plain):
		p.skips = true
		p.current = append(p.current, "")
	default:
		p.current = append(p.current, plain)
	}
}

// isBlock reports whether a line starts a block that is no prose.
func (p *readmeParser) isBlock(line, plain string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
		return true // code
	}
	for _, start := range [...]string{"> ", ">", "|", "- ", "* ", "+ ", "• ", ".. ", ":", "[[", "!!", "//", "--"} {
		if strings.HasPrefix(plain, start) {
			return true
		}
	}
	return numbered().MatchString(plain) || definition().MatchString(plain)
}

var (
	numbered   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+[.)] `) })
	definition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[^\]]+\]:\s`) })
)

// underline handles a line of punctuation: a single line above it is a heading.
func (p *readmeParser) underline() {
	if len(p.current) == 1 && !p.skips {
		text := p.current[0]
		p.current = nil
		p.title(text)
		return
	}
	p.flush()
}

// title starts a section. The first heading is the title of the document.
func (p *readmeParser) title(text string) {
	p.flush()
	text = StripMarkup(text)
	if p.Readme.title == "" && len(p.paragraphs) == 0 {
		p.Readme.title = text
		return
	}
	p.heading = text
	p.nth++
}

// flush ends the current paragraph.
func (p *readmeParser) flush() {
	lines, skips := p.current, p.skips
	p.current, p.skips = nil, false
	if len(lines) == 0 || skips {
		return
	}
	text := strings.Join(lines, " ")
	if isProse(text) {
		p.paragraphs = append(p.paragraphs, paragraph{p.heading, p.nth, text})
	}
}

var link = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("!?\\[[^\\[\\]]*\\](?:\\([^)]*\\)|\\[[^\\]]*\\])|`[^`]*<[^<>]*>`_+|https?://\\S+|\\|[\\w. -]+\\|")
})

// isProse reports whether a paragraph has sentences: mostly letters besides images and links, and no row of
// navigation links.
func isProse(text string) bool {
	for _, separator := range [...]string{" | ", " · ", " • "} {
		if strings.Count(text, separator) > 1 {
			return false
		}
	}
	text = markup().ReplaceAllString(text, " ")
	text = link().ReplaceAllString(text, " ")
	letters, other := 0, 0
	for _, c := range text {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			letters++
		case !unicode.IsSpace(c):
			other++
		}
	}
	return letters >= 12 && letters >= 3*other
}

// isRuled reports whether a line is drawn with punctuation, as below a heading.
func isRuled(line string) bool {
	return len(line) > 2 && strings.Trim(line, "=-~^\"'`#*+_.:") == ""
}
