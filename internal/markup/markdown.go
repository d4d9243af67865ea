package markup

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// ErrTooComplex is returned for a document that goldmark would parse too slowly for its size.
var ErrTooComplex = errors.New("too deeply nested, or too many brackets in one paragraph")

const (
	// maxNesting limits the quote and list marks at the start of a line.
	maxNesting = 100
	// maxBrackets limits the open brackets of a paragraph times its bytes: goldmark searches for the end of a link
	// from every open bracket.
	maxBrackets = 20_000_000
	// maxReferences limits the pairs of brackets in a paragraph that are no inline links, times its lines: goldmark
	// searches all its lines for the text of each.
	maxReferences = 100_000_000
)

// parseMarkdown returns the blocks of a Markdown document in order.
func parseMarkdown(src []byte) ([]Block, error) {
	base := skipFrontmatter(src)
	body := src[base:]
	if tooComplex(body) {
		return nil, ErrTooComplex
	}
	var out []Block
	depth := 0
	document := markdownParser().Parse(text.NewReader(body))
	// The walker returns no errors.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		b := Block{Depth: depth, inlines: func() []Inline { return inlinesOf(n, base) }}
		switch n := n.(type) {
		case *ast.Blockquote, *ast.ListItem:
			if entering {
				depth++
			} else {
				depth--
			}
			return ast.WalkContinue, nil
		case *ast.Heading:
			b.Kind = Heading
			b.Level = n.Level
		case *ast.Paragraph, *ast.TextBlock:
			b.Kind = Paragraph
		case *ast.CodeBlock:
			b.Kind = Code
		case *ast.FencedCodeBlock:
			b.Kind = Code
			if n.Info != nil {
				b.Language = language(string(n.Info.Segment.Value(body)))
			}
		case *ast.HTMLBlock:
			b.Kind = HTML
		case *ast.LinkReferenceDefinition:
			b.Kind = LinkDefinition
		default:
			return ast.WalkContinue, nil
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		b.Lines = linesOf(n, body, base)
		out = append(out, b)
		return ast.WalkSkipChildren, nil
	})
	return out, nil
}

// inlinesOf returns the inline parts of a block. Positions in the document are those of the node plus base.
func inlinesOf(block ast.Node, base int) []Inline {
	var list []Inline
	add := func(kind InlineKind, from, to text.Segment) {
		list = append(list, Inline{Kind: kind, Span: Span{base + from.Start, base + to.Stop}})
	}
	link := func(n ast.Node, entering bool, destination []byte, reference *ast.ReferenceLink) {
		l := Inline{Kind: LinkEnd, Destination: string(destination), Reference: reference != nil}
		if entering {
			l.Kind = LinkStart
			l.Start = base + n.Pos()
		}
		list = append(list, l)
	}
	// The walker returns no errors.
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				add(Text, n.Segment, n.Segment)
			}
		case *ast.CodeSpan:
			if entering && n.HasChildren() {
				add(CodeSpan, n.FirstChild().(*ast.Text).Segment, n.LastChild().(*ast.Text).Segment)
			}
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			if entering && n.Segments.Len() > 0 {
				add(Tag, n.Segments.At(0), n.Segments.At(n.Segments.Len()-1))
			}
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			link(n, entering, n.Destination, n.Reference)
		case *ast.Image:
			link(n, entering, n.Destination, n.Reference)
		}
		return ast.WalkContinue, nil
	})
	return list
}

// markdownParser parses CommonMark. It leaves emphasis in the text, because it changes no name.
var markdownParser = sync.OnceValue(func() parser.Parser {
	var inlines []util.PrioritizedValue
	for _, v := range parser.DefaultInlineParsers() {
		if v.Value != parser.NewEmphasisParser() {
			inlines = append(inlines, v)
		}
	}
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// linesOf returns the lines of a block without their line ends.
func linesOf(n ast.Node, body []byte, base int) []Span {
	segments := n.Lines().Sliced(0, n.Lines().Len())
	if block, ok := n.(*ast.HTMLBlock); ok && block.HasClosure() {
		segments = append(segments, block.ClosureLine)
	}
	lines := make([]Span, len(segments))
	for i, s := range segments {
		stop := s.Stop
		for stop > s.Start && (body[stop-1] == '\n' || body[stop-1] == '\r') {
			stop--
		}
		lines[i] = Span{base + s.Start, base + stop}
	}
	return lines
}

// tooComplex reports whether goldmark would parse a document slowly.
func tooComplex(body []byte) bool {
	var square, round, most, size int // open brackets of the paragraph, their maximum, its size in bytes
	var references, lines int         // pairs of brackets that are no inline links, lines of the paragraph
	for line := range bytes.Lines(body) {
		if nesting(line) > maxNesting {
			return true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			square, round, most, size = 0, 0, 0, 0
			references, lines = 0, 0
			continue
		}
		size += len(line)
		lines++
		references += bytes.Count(line, []byte("]")) - bytes.Count(line, []byte("]("))
		for i, b := range line {
			switch {
			case b == '[':
				square++
			case b == ']':
				square = max(0, square-1)
			case b == '(' && i > 0 && line[i-1] == ']':
				round++
			case b == ')':
				round = max(0, round-1)
			}
			most = max(most, square+round)
		}
		if most*size > maxBrackets || references*lines > maxReferences {
			return true
		}
	}
	return false
}

// nesting counts the quote and list marks at the start of a line. A line of only dashes or stars is a rule and
// counts as 0.
func nesting(line []byte) int {
	if len(bytes.Trim(line, "- \t\r\n")) == 0 || len(bytes.Trim(line, "* \t\r\n")) == 0 {
		return 0
	}
	marks := 0
	for i, b := range line {
		switch b {
		case '>':
			marks++
		case '-', '+', '*', '.', ')':
			if i+1 < len(line) && line[i+1] > ' ' {
				return marks
			}
			marks++
		case ' ', '\t', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		default:
			return marks
		}
	}
	return marks
}

// lineEnd returns the end of the line at a position, and the start of the next line.
func lineEnd(src []byte, at int) (end, next int) {
	i := bytes.IndexByte(src[at:], '\n')
	if i < 0 {
		return len(src), len(src)
	}
	end = at + i
	next = end + 1
	if end > at && src[end-1] == '\r' {
		end--
	}
	return end, next
}

// skipFrontmatter returns the start of the prose: after a byte order mark, and after front matter between two
// lines of dashes.
func skipFrontmatter(src []byte) int {
	at := 0
	if bytes.HasPrefix(src, []byte("\uFEFF")) {
		at = 3
	}
	end, next := lineEnd(src, at)
	mark := strings.TrimRight(string(src[at:min(end, at+8)]), " \t")
	if end-at > 7 || mark != "---" && mark != "+++" {
		return at
	}
	for p := next; p < len(src) && p < 1<<16; {
		end, after := lineEnd(src, p)
		if line := src[p:end]; len(line) < 8 {
			if l := strings.TrimRight(string(line), " \t"); l == mark || l == "..." {
				return after
			}
		}
		p = after
	}
	return at
}

// language returns the language in the info string of a fence.
func language(info string) string {
	info = strings.TrimLeft(strings.TrimSpace(info), "{.")
	if i := strings.IndexAny(info, " \t,{}:("); i >= 0 {
		info = info[:i]
	}
	return strings.ToLower(info)
}
