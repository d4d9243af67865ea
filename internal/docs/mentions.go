package docs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/repo"
)

// mentions reads one document, and marks what nobody wants to hear of.
func (j *judge) mentions(doc repo.Path, content []byte) ([]Judged, error) {
	read, err := Read(doc, content)
	if err != nil {
		return nil, err
	}
	list := make([]Judged, len(read.Mentions))
	past, decision := Historical(doc), RoleOf(doc) == Decision
	for i, m := range read.Mentions {
		list[i].Mention = m
		switch {
		case m.Acked || okayed(j.opts.OK, &m):
			list[i].Hidden = HiddenAcked
		case past, decision && m.Form != Link: // it was so when it was decided, but a link leads somewhere
			list[i].Hidden = HiddenHistorical
		case m.Hedged:
			list[i].Hidden = HiddenHedged
		case m.Form == Drawing && printed(content, m.Line):
			list[i].Hidden = HiddenPrinted
		}
	}
	return list, nil
}

// printed reports whether the block of code that a line is in begins with a command at a
// prompt: then the line is what a program once printed.
func printed(content []byte, line int) bool {
	lines := bytes.SplitN(content, []byte("\n"), line+1)
	for i := min(line, len(lines)) - 2; i >= 0; i-- {
		text := strings.TrimSpace(string(lines[i]))
		if !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") {
			continue
		}
		first := strings.TrimSpace(string(lines[i+1]))
		return slices.ContainsFunc(prompts, func(p string) bool { return strings.HasPrefix(first, p) })
	}
	return false
}

var prompts = []string{"$ ", "> ", "% ", "❯ ", "➜ ", "PS> "}

// okayed reports whether the policy says that a mention is right as it is.
func okayed(ok []string, m *Mention) bool {
	for _, o := range ok {
		if o == m.Text || o == m.Name {
			return true
		}
		if match, err := doublestar.Match(o, strings.TrimPrefix(m.Name, "./")); err == nil && match {
			return true
		}
	}
	return false
}

// excluded reports whether a glob covers a document.
func excluded(globs []string, p repo.Path) bool {
	for _, g := range globs {
		if ok, err := doublestar.Match(g, string(p)); err == nil && ok {
			return true
		}
	}
	return false
}
