package mention

import (
	"bytes"
	"fmt"
	"strings"

	"ken/internal/markup"
	"ken/internal/repo"
)

// A Comment is an acknowledgement that was added to a document.
type Comment struct {
	Text string
	Line int // from 1
}

// Acknowledge adds a comment that acknowledges a mention to a Markdown document: at the end of the line with the
// mention, or on a line of its own before the heading, table or HTML there. ok is false if there is no such place, as
// in code, or if [Read] would read the document differently.
func Acknowledge(content []byte, m *Mention) (after []byte, c Comment, ok bool) {
	before, err := Read(m.File, content)
	if err != nil || !IsMarkdown(m.File) {
		return nil, Comment{}, false
	}
	for _, place := range placesNear(content, m.Line) {
		for _, name := range []string{m.Text, m.Name} {
			text := commentOf(m.File, name)
			if text == "" {
				continue
			}
			after = bytes.Join([][]byte{content[:place.at], content[place.at:]}, []byte(place.before+text+place.after))
			read, err := Read(m.File, after)
			if err == nil && sameButAcked(before.Mentions, read.Mentions, name, m.Line) {
				return after, Comment{text, 1 + bytes.Count(content[:place.at], []byte("\n"))}, true
			}
		}
	}
	return nil, Comment{}, false
}

// A commentPlace is a position in a document for a comment, with the text before and after it.
type commentPlace struct {
	at            int
	before, after string
}

// placesNear lists the places for a comment about a line, the best first.
func placesNear(content []byte, line int) (list []commentPlace) {
	doc, err := markup.Parse(markup.Markdown, content)
	if err != nil {
		return nil
	}
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		for _, l := range b.Lines {
			if doc.Line(l.Start) != line || b.Kind == markup.Code {
				continue
			}
			text := string(content[l.Start:l.End])
			if b.Kind == markup.Paragraph && isProse(text) {
				// Two spaces or a backslash at the end break the line.
				end := l.Start + len(strings.TrimRight(text, " \t\\"))
				list = append(list, commentPlace{at: end, before: " "})
			}
			if b.Depth == 0 {
				eol := "\n"
				if bytes.HasPrefix(content[l.End:], []byte("\r\n")) {
					eol = "\r\n"
				}
				list = append(list, commentPlace{at: lineStart(content, b.Lines[0].Start), after: eol + eol})
			}
			return list
		}
	}
	return nil
}

// isProse reports whether a line is text for people, and not a row of a table, a mark of an extension such as
// ":::note", "!!! note" or "{: .wide}", or the title of an alert.
func isProse(line string) bool {
	text := strings.TrimLeft(line, " \t")
	marked := text == "" || strings.IndexByte(":!{}+", text[0]) >= 0 || strings.HasPrefix(text, "[!")
	return !marked && !strings.Contains(text, "|")
}

// lineStart returns the start of the line at a position, after a byte order mark.
func lineStart(content []byte, at int) int {
	start := bytes.LastIndexByte(content[:at], '\n') + 1
	if start == 0 && bytes.HasPrefix(content, []byte("\uFEFF")) {
		return len("\uFEFF")
	}
	return start
}

// commentOf returns the comment that parseAck reads as an acknowledgement of a name, "" if there is none. Two dashes would
// end it in XML, and older versions of CommonMark show such a comment; an option has a name without them.
func commentOf(doc repo.Path, name string) string {
	form, end := "<!-- ken:ok %s -->", "--"
	if strings.HasSuffix(string(doc), ".mdx") {
		form, end = "{/* ken:ok %s */}", "*/"
	}
	if name == "" || strings.Contains(name, end) {
		return ""
	}
	if strings.ContainsAny(name, " \t") || strings.ContainsAny(name[:1], "-`\"'") || strings.HasPrefix(name, "—") {
		quotes := strings.Map(func(q rune) rune {
			if strings.ContainsRune(name, q) {
				return -1
			}
			return q
		}, "`\"'")
		if quotes == "" {
			return ""
		}
		name = quotes[:1] + name + quotes[:1]
	}
	return fmt.Sprintf(form, name)
}

// sameButAcked reports whether the mentions after an edit are those before it, and only those of a name, one of them
// on the line, were acknowledged.
func sameButAcked(before, after []Mention, name string, line int) bool {
	if len(before) != len(after) {
		return false
	}
	onLine := false
	for i, was := range before {
		if was.Text == name || was.Name == name {
			onLine = onLine || was.Line == line
			was.Acked = true
		}
		was.Line = after[i].Line
		was.At = after[i].At
		if was != after[i] {
			return false
		}
	}
	return onLine
}
