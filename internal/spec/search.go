package spec

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ken/internal/spec/parse"
)

// A Hit is a node that a search found.
type Hit struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Score   int    `json:"score"`
	Snippet string `json:"snippet"`
}

// The score of a word by the part of the spec in which it is found.
const (
	inID    = 8
	inTitle = 6
	inDesc  = 4
	inCode  = 3
	inBody  = 1
	most    = 5 // the most times that a word counts in a body
)

// Search returns the nodes that contain every word of a query in any of their parts, best first.
func Search(nodes []*parse.Node, query string) []Hit {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	hits := []Hit{}
	if len(words) == 0 {
		return hits
	}
	for _, n := range nodes {
		if score := scoreOf(n, words); score > 0 {
			hits = append(hits, Hit{n.ID, n.Title, score, snippetOf(n, words)})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits
}

// scoreOf returns the score of a node, 0 if it does not contain all words.
func scoreOf(n *parse.Node, words []string) int {
	var code strings.Builder
	for _, e := range slices.Concat(n.Code, n.Related) {
		code.WriteString(strings.ToLower(e.Text))
		code.WriteByte('\n')
	}
	id, title, desc, body := strings.ToLower(n.ID), strings.ToLower(n.Title), strings.ToLower(n.Desc), strings.ToLower(n.Body)
	total := 0
	for _, w := range words {
		worth := inBody * min(strings.Count(body, w), most)
		for _, part := range []struct {
			text  string
			value int
		}{{id, inID}, {title, inTitle}, {desc, inDesc}, {code.String(), inCode}} {
			if strings.Contains(part.text, w) {
				worth += part.value
			}
		}
		if id == w {
			worth += inID
		}
		if worth == 0 {
			return 0
		}
		total += worth
	}
	return total
}

// around is the number of bytes of a line that a snippet shows before and after a word.
const around = 60

// snippetOf returns the first line of the body that contains one of the words, or the description.
func snippetOf(n *parse.Node, words []string) string {
	for line := range strings.Lines(n.Body) {
		lower := strings.ToLower(line)
		if len(lower) != len(line) {
			lower = line // lower case changes the offsets of this line
		}
		for _, w := range words {
			if i := strings.Index(lower, w); i >= 0 {
				return cut(line, i, i+len(w))
			}
		}
	}
	return n.Desc
}

// cut returns the part of a line around an offset.
func cut(line string, from, to int) string {
	start, end := max(from-around, 0), min(to+around, len(line))
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	text := strings.TrimSpace(line[start:end])
	if start > 0 {
		text = "…" + text
	}
	if end < len(strings.TrimRight(line, "\n")) {
		text += "…"
	}
	return text
}
