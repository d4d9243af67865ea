package project

import (
	"regexp"
	"slices"
	"strings"

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
func (p *Project) commandsIn(doc repo.Path, headings *regexp.Regexp, list *[]candidate, add func(candidate)) {
	n := 0
	fenced := false
	wanted := headings == nil
	for line := range strings.Lines(string(p.text(doc))) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case isFence(line):
			fenced = !fenced
			continue
		case !fenced && headingMark().MatchString(trimmed):
			wanted = headings == nil || headings.MatchString(trimmed)
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if !wanted || !fenced && !indented {
			continue
		}
		trimmed = strings.TrimPrefix(strings.TrimPrefix(trimmed, "$ "), "> ")
		for _, c := range splitShell(trimmed) {
			use, key, lang, ok := classify(c.words)
			hasPlaceholder := strings.ContainsAny(trimmed, "<>{}…")
			canBePasted := c.plain && !hasPlaceholder
			known := func(o candidate) bool { return o.purpose == use && o.key == key }
			if !ok || !canBePasted || slices.ContainsFunc(*list, known) {
				continue
			}
			add(candidate{
				Command: Command{Run: quoteWords(c.words), Source: doc, Line: n},
				purpose: use, lang: lang, key: key, order: orderDoc,
			})
		}
	}
}
