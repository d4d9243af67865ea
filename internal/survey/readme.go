package survey

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// readmeNames are the READMEs that are looked at, in this order.
var readmeNames = []string{"readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme.adoc", "readme"}

func isReadme(base string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(base), ".")
	return stem == "readme"
}

// A readme is a README in Markdown, reStructuredText, AsciiDoc or plain text, as far as it
// may say what its directory is.
type readme struct {
	title      string // its first heading
	paragraphs []paragraph
	text       string // all of it
}

// A paragraph is prose of a README: no heading, list, table, quotation, code, badge or
// navigation.
type paragraph struct {
	heading string // that it stands under, "" for the title
	nth     int    // how many headings came before
	text    string
}

// readmeHeadings is how many headings into a README its subject is looked for.
const readmeHeadings = 4

// lead returns the first sentence that says what the directory is: of the first paragraph
// under the title, else of one under a heading such as "About" or "Overview", else under one
// of the first headings that is not about something else, such as "Install".
func (r *readme) lead() string {
	titled := func(p *paragraph) bool { return p.heading == "" }
	promised := func(p *paragraph) bool {
		low := strings.ToLower(p.heading)
		return slices.ContainsFunc([]string{"about", "introduc", "overview", "what is", "summary", "purpose"}, func(w string) bool { return strings.Contains(low, w) })
	}
	early := func(p *paragraph) bool { return p.nth <= readmeHeadings && !offTopic(p.heading) }
	for _, fits := range []func(*paragraph) bool{titled, promised, early} {
		for i := range r.paragraphs {
			p := &r.paragraphs[i]
			if !fits(p) {
				continue
			}
			if text := tidy(sentenceOf(p.text)); telling(text) && !placeholder(text) && (strings.Count(text, " ") > 1 || strings.HasSuffix(text, ".")) { // two words alone are a title
				return text
			}
		}
	}
	return ""
}

// dropMentions removes the paragraphs that have one of some texts.
func (r *readme) dropMentions(texts []string) {
	r.paragraphs = slices.DeleteFunc(r.paragraphs, func(p paragraph) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(p.text, text) })
	})
}

// isAboutOther reports whether the README is about something else than its directory: it is
// a template that nobody edited, or its title is the name of another package.
func (r *readme) isAboutOther(names []string) bool {
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

// templatePhrases are sentences of READMEs that tools generate, in lower case.
var templatePhrases = []string{
	"this project was bootstrapped with", "project bootstrapped with [`create-", "project bootstrapped with `create-", "todo: write a gem description",
	"welcome to your new gem", "a new flutter project", "this project was generated with [angular cli]", "this template should help get you started",
	"this template provides a minimal setup", "everything you need to build a svelte project", "this project was generated using",
	"this is a starter template", "delete this and the text above", "todo: delete this",
}

// packageName matches a title that is one word, as the names of packages are.
var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@?[a-z0-9][a-z0-9._/-]*$`) })

// samePackage reports whether a title may stand for a name: they are the same but for case,
// punctuation and scope, or one begins or ends the other.
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
func (r *readme) installs(name string) bool {
	for _, command := range []string{"npm install ", "npm i ", "yarn add ", "pnpm add ", "pip install ", "cargo add ", "gem install "} {
		if strings.Contains(r.text, command+name) {
			return true
		}
	}
	return false
}

// placeholder reports whether a text is one that stands where somebody should have written
// one, or is about where the project comes from.
func placeholder(text string) bool {
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

// parseReadme reads a README by its lines. What it does not understand is no paragraph.
func parseReadme(content string) *readme {
	p := &readmeParser{readme: &readme{text: content}, asciidoc: strings.HasPrefix(content, "= ")}
	content = comments().ReplaceAllString(frontMatter().ReplaceAllString(content, ""), "")
	p.lines = strings.Split(content, "\n")
	for p.at = 0; p.at < len(p.lines); p.at++ {
		p.line()
	}
	p.flush()
	return p.readme
}

var comments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`) })

var frontMatter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)\A---\n.*?\n---\n`) })

type readmeParser struct {
	*readme
	lines []string
	at    int
	// asciidoc says that four dashes begin a code block; elsewhere they are a rule.
	asciidoc bool
	fence    string // that ends the code block
	skips    bool   // the paragraph being read is no prose
	current  []string
	heading  string
	nth      int
}

// line takes in one line.
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
		p.title(tidy(plain))
	case isRuled(plain):
		p.underline()
	case len(p.current) == 0 && p.isBlock(line, plain):
		p.skips = true
		p.current = append(p.current, "")
	default:
		p.current = append(p.current, plain)
	}
}

// isBlock reports whether a line begins something that is no prose.
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

// underline makes a heading of the line above a rule, if it is a short one.
func (p *readmeParser) underline() {
	if len(p.current) == 1 && !p.skips {
		text := p.current[0]
		p.current = nil
		p.title(text)
		return
	}
	p.flush()
}

// title begins a section. The first heading is the title of the document.
func (p *readmeParser) title(text string) {
	p.flush()
	text = tidy(text)
	if p.readme.title == "" && len(p.paragraphs) == 0 {
		p.readme.title = text
		return
	}
	p.heading = text
	p.nth++
}

// flush ends a paragraph.
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

// isProse reports whether a paragraph has sentences: more than images and links, mostly
// letters, and no row of choices.
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

// isRuled reports a line drawn with punctuation, which makes a title of its neighbours.
func isRuled(line string) bool {
	return len(line) > 2 && strings.Trim(line, "=-~^\"'`#*+_.:") == ""
}

// ReadmeWords returns the sentence of a README that says what its directory is, "" for none.
func ReadmeWords(content string) string { return cut(parseReadme(content).lead(), leadBytes) }
