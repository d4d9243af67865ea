package find

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/searchindex"
)

// A termSet is a set of terms of a query: bit i is the i-th term. Terms after the 64th are in no set.
type termSet uint64

// queryTerms are the terms of a query and how much each is worth: more if fewer files have it.
type queryTerms struct {
	terms []string
	worth []float64
	bits  map[string]termSet // by stem
	known map[string]termSet // by word of a text
}

// newQueryTerms counts the files with each term. The terms that occur in no file and no commit are unmatched.
func newQueryTerms(ctx context.Context, x *searchindex.Index, terms []string) (q *queryTerms, unmatched []string, err error) {
	q = &queryTerms{terms: terms, bits: make(map[string]termSet), known: make(map[string]termSet)}
	unmatched = []string{}
	files, err := x.Size(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i, term := range terms {
		n, err := x.Count(ctx, searchindex.InText, term)
		if err != nil {
			return nil, nil, err
		}
		q.worth = append(q.worth, idf(n, files))
		if stem := stem(term); q.bits[stem] == 0 {
			q.bits[stem] = 1 << i
		}
		for _, field := range []searchindex.Field{searchindex.InPath, searchindex.InSymbol, searchindex.InSummary, searchindex.InSubject} {
			if n > 0 {
				break
			}
			if n, err = x.Count(ctx, field, term); err != nil {
				return nil, nil, err
			}
		}
		if n == 0 && !slices.ContainsFunc(terms, func(o string) bool { return o != term && strings.Contains(term, o) }) {
			unmatched = append(unmatched, term) // the parts of a compound count instead
		}
	}
	return q, unmatched, nil
}

// idf returns the weight of a term that some of all rows contain, as in BM25.
func idf(having, all int) float64 {
	if having == 0 {
		return 0
	}
	return math.Log(1 + (float64(all-having)+0.5)/(float64(having)+0.5))
}

// in returns the terms that a text has.
func (q *queryTerms) in(text string) (found termSet) {
	searchindex.EachWord(text, func(word string) {
		set, ok := q.known[word]
		if !ok {
			for _, term := range searchindex.Terms(word) {
				set |= q.bits[stem(term)]
			}
			q.known[word] = set
		}
		found |= set
	})
	return found
}

// sum returns what the terms of a set are worth together.
func (q *queryTerms) sum(set termSet) (sum float64) {
	for i, worth := range q.worth {
		if set&(1<<i) != 0 {
			sum += worth
		}
	}
	return sum
}

// list names the terms of a set.
func (q *queryTerms) list(set termSet) string {
	var list []string
	for i, term := range q.terms {
		if set&(1<<i) != 0 {
			list = append(list, term)
		}
	}
	return strings.Join(list, ", ")
}

// stem removes the usual English endings, so that retries, retried and retry compare equal.
func stem(term string) string {
	for _, ending := range []string{"ies", "ied", "ing", "ers", "er", "ed", "es", "s", "y", "e"} {
		if cut, ok := strings.CutSuffix(term, ending); ok && len(cut) >= 3 {
			return cut
		}
	}
	return term
}

const (
	maxLine  = 500 // the maximum length of a line that is shown or compared; a longer one is data
	maxLines = 3   // the lines of a place
	nearby   = 5   // a line this close to a better one is not listed
)

// A codeLine is a line with terms of a query.
type codeLine struct {
	number   int
	text     string
	around   int     // the index of the symbol around it, -1 if there is none
	own      termSet // in the line itself
	all      termSet // also in the name of the symbol around it, and in the doc comment of the one that it declares
	named    bool    // declares the symbol that the query names
	declares bool
	isImport bool
	isNote   bool // a comment
}

// compareLines orders lines, the best first. Where the terms are the same, it prefers code, then more terms in the line
// itself, then a declaration.
func (q *queryTerms) compareLines(a, b *codeLine) int {
	return cmp.Or(
		trueFirst(a.named, b.named), trueFirst(b.isImport, a.isImport), cmp.Compare(q.sum(b.all), q.sum(a.all)),
		trueFirst(b.isNote, a.isNote), cmp.Compare(q.sum(b.own), q.sum(a.own)), trueFirst(a.declares, b.declares), cmp.Compare(a.number, b.number),
	)
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// bestLines returns the best lines of a file that are not near each other, and the terms that its text has.
func (q *queryTerms) bestLines(content string, o *outline.Outline, imports []outline.Import, named string) (best []codeLine, found termSet) {
	list, found := q.codeLines(content, o, imports, named)
	slices.SortFunc(list, func(a, b codeLine) int { return q.compareLines(&a, &b) })
	for _, l := range list {
		isNear := func(b codeLine) bool { return max(b.number-l.number, l.number-b.number) <= nearby }
		if len(best) < maxLines && !slices.ContainsFunc(best, isNear) {
			best = append(best, l)
		}
	}
	return best, found
}

// codeLines returns the lines that have terms, and all terms of the text. A doc comment counts with the declaration below.
func (q *queryTerms) codeLines(content string, o *outline.Outline, imports []outline.Import, named string) (list []codeLine, found termSet) {
	lines := strings.Split(strings.TrimRight(content, "\n"), "\n")
	at := make([]codeLine, len(lines)+1) // by line
	for i := range at {
		at[i].around = -1
	}
	names := make([]termSet, len(o.Symbols))
	declaredAt := make([]int, len(o.Symbols))
	for i := range o.Symbols {
		s := &o.Symbols[i]
		names[i] = q.in(s.FullName())
		declaredAt[i] = min(s.NameLine(lines), len(lines))
		declaration := &at[declaredAt[i]]
		declaration.declares = true
		declaration.named = declaration.named || named != "" && isNamed(s, named)
		if s.Kind == outline.Field || s.Kind == outline.Member {
			continue
		}
		for n := s.Line; n <= min(s.EndLine, len(lines)); n++ {
			at[n].around = i
		}
	}
	for _, im := range imports {
		if im.Line < len(at) {
			at[im.Line].isImport = true
		}
	}
	comments := commentReader{language: o.Language}
	var doc termSet // in the doc comment of the next declaration
	for i, text := range lines {
		l := at[i+1]
		l.number = i + 1
		l.text = strings.TrimSpace(text)
		l.isNote = comments.reads(l.text) && !l.declares
		if len(text) > maxLine {
			continue
		}
		l.own = q.in(l.text)
		found |= l.own
		isInSymbol := l.around >= 0 && !l.isImport
		if isInSymbol && l.isNote && l.number < declaredAt[l.around] {
			doc |= l.own
			continue
		}
		l.all = l.own
		if l.declares {
			l.all |= doc
			doc = 0
		}
		hasTerms := l.all != 0 || l.named
		if isInSymbol {
			l.all |= names[l.around]
		}
		if hasTerms {
			list = append(list, l)
		}
	}
	return list, found
}

// A commentReader tells lines of comments from lines of code, roughly.
type commentReader struct {
	language   outline.Language
	inString   bool // of Python, in three quotes
	isDocument bool // the string is a docstring
}

// reads reads the next line, without indentation, and reports whether it is a comment.
func (c *commentReader) reads(line string) bool {
	if c.language == outline.Unknown {
		return false
	}
	isComment := c.isDocument || outline.IsComment(line)
	if c.language == outline.Python && strings.Count(line, `"""`)%2 == 1 {
		c.inString = !c.inString
		c.isDocument = c.inString && strings.HasPrefix(line, `"""`)
	}
	return isComment
}
