package project

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/markup"
	"ken/internal/repo"
)

// orderDoc is the order of a command that only a document shows.
const orderDoc = 18

// docCommands adds the commands that guides and the README show and that no manifest offers.
func (p *Project) docCommands(list *[]candidate, add func(candidate)) {
	for _, doc := range p.instructionFiles("") {
		p.commandsIn(doc, nil, list, add)
	}
	if readme := p.firstFile("", "README.md", "README.rst", "README", "readme.md", "Readme.md"); readme != "" {
		p.commandsIn(readme, devHeading(), list, add)
	}
}

var devHeading = lazyRegexp(`(?i)contribut|develop|hacking|from source|\bbuild|\btest`)

// commandsIn adds the commands in the code blocks of a document, of all sections or of those with some headings.
func (p *Project) commandsIn(file repo.Path, headings *regexp.Regexp, list *[]candidate, add func(candidate)) {
	doc := p.prose(file)
	wanted := headings == nil
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		if b.Kind == markup.Heading {
			wanted = headings == nil || headings.MatchString(doc.Text(b))
		}
		for n, line := range strings.Split(doc.Text(b), "\n") {
			if wanted && (b.Kind == markup.Code || markup.IsIndented(line)) {
				p.commandsOn(line, Command{Source: file, Line: doc.Line(b.Lines[n].Start)}, list, add)
			}
		}
	}
}

// commandsOn adds the commands on a line of code.
func (p *Project) commandsOn(line string, at Command, list *[]candidate, add func(candidate)) {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "> ")
	for _, c := range splitShell(line) {
		use, key, lang, ok := classify(c.words)
		hasPlaceholder := strings.ContainsAny(line, "<>{}…")
		canBePasted := c.plain && !hasPlaceholder
		known := func(o candidate) bool { return o.purpose == use && o.key == key }
		if !ok || !canBePasted || slices.ContainsFunc(*list, known) {
			continue
		}
		at.Run = quoteWords(c.words)
		add(candidate{Command: at, purpose: use, lang: lang, key: key, order: orderDoc})
	}
}
