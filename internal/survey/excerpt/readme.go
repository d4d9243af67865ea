package excerpt

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ken/internal/markup"
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

// ParseReadme parses the README in a file with a name. A README that is too complex has no title and no paragraphs.
func ParseReadme(name, content string) *Readme {
	r := &Readme{text: content}
	doc, err := markup.Parse(markup.FormatOf(name), []byte(content))
	if err != nil {
		return r
	}
	p := readmeParser{Readme: r}
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		text := comments().ReplaceAllString(doc.Text(b), "")
		switch {
		case b.Kind == markup.Heading:
			p.startSection(text)
		case b.Kind == markup.HTML:
			p.html(text)
		case b.Kind == markup.Paragraph && b.Depth == 0 && !isBlock(text):
			p.paragraph(text)
		}
	}
	return r
}

var comments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`) })

var htmlHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<h[1-6]\b.*?</h[1-6]>`) })

type readmeParser struct {
	*Readme
	heading string
	nth     int
}

// startSection starts a section. The first heading is the title of the document.
func (p *readmeParser) startSection(heading string) {
	heading = StripMarkup(heading)
	if p.title == "" && len(p.paragraphs) == 0 {
		p.title = heading
		return
	}
	p.heading = heading
	p.nth++
}

// html reads the headings and the text of a block of HTML.
func (p *readmeParser) html(text string) {
	at := 0
	for _, h := range htmlHeading().FindAllStringIndex(text, -1) {
		p.paragraph(text[at:h[0]])
		p.startSection(text[h[0]:h[1]])
		at = h[1]
	}
	p.paragraph(text[at:])
}

// paragraph adds a paragraph if it is prose.
func (p *readmeParser) paragraph(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if isProse(text) {
		p.paragraphs = append(p.paragraphs, paragraph{p.heading, p.nth, text})
	}
}

// isBlock reports whether a paragraph is code, a table, a list or a directive.
func isBlock(text string) bool {
	if markup.IsIndented(text) {
		return true
	}
	text = strings.TrimSpace(text)
	for _, start := range [...]string{">", "# ", "|", "- ", "* ", "+ ", "• ", ".. ", ":", "[[", "!!", "//", "--"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return numbered().MatchString(text)
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+[.)] `) })

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
	text = tags().ReplaceAllString(text, " ")
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
