// Package markup reads the parts of documents: headings, paragraphs, code and HTML with their lines. It parses Markdown
// with goldmark, and other formats line by line. What the parts mean is up to its callers.
package markup

import (
	"path"
	"sort"
	"strings"
)

// A Format is the language of a document.
type Format int

// The formats.
const (
	Markdown Format = iota
	RST
	AsciiDoc
	Plain // paragraphs between blank lines; indented ones are code
)

// FormatOf returns the format of a document by its name. The rules of some agents are Markdown without an extension.
func FormatOf(name string) Format {
	base := strings.ToLower(path.Base(name))
	switch base {
	case ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints", ".rules":
		return Markdown
	}
	switch path.Ext(base) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx", ".mdc":
		return Markdown
	case ".rst":
		return RST
	case ".adoc", ".asciidoc":
		return AsciiDoc
	}
	return Plain
}

// A Document is a parsed document.
type Document struct {
	Blocks []Block // in order
	src    []byte
	ends   []int // of the lines; nil until the first call of Line
}

// A Span is a range of bytes in a document. The zero Span is none.
type Span struct{ Start, End int }

// A Block is a part of a document that has text and no child blocks.
type Block struct {
	Kind  Kind
	Lines []Span // the part of each line that belongs to the block, without the line end
	// Language is that of code, in lower case, as the document names it; "" for none.
	Language string
	Level    int // of a heading, from 1
	Depth    int // the number of quotes and list items around the block
	inlines  func() []Inline
}

// A Kind is the kind of a block.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading
	Code
	HTML
	LinkDefinition
)

// An Inline is a part of the text of a Markdown block.
type Inline struct {
	Kind InlineKind
	// Span is the position of the text, the code or the tag without its marks. For a link it is empty and where the
	// link starts or ends.
	Span
	Destination string // of a link
	Reference   bool   // the destination of the link is elsewhere in the document
}

// An InlineKind is the kind of an inline part.
type InlineKind int

// The kinds of inline parts. The text of a link or an image is between LinkStart and LinkEnd. Emphasis is part of the
// text.
const (
	Text InlineKind = iota
	CodeSpan
	Tag
	LinkStart
	LinkEnd
)

// Parse parses a document. The error is [ErrTooComplex] or nil.
func Parse(format Format, src []byte) (*Document, error) {
	d := &Document{src: src}
	if format != Markdown {
		d.Blocks = parseLines(src, format)
		return d, nil
	}
	var err error
	d.Blocks, err = parseMarkdown(src)
	return d, err
}

// Text returns the text of a block as written, its lines joined by line ends.
func (d *Document) Text(b *Block) string {
	lines := make([]string, len(b.Lines))
	for i, l := range b.Lines {
		lines[i] = string(d.src[l.Start:l.End])
	}
	return strings.Join(lines, "\n")
}

// Inlines returns the inline parts of a block, in order; nil for a block of another format than Markdown.
func (b *Block) Inlines() []Inline {
	if b.inlines == nil {
		return nil
	}
	return b.inlines()
}

// Line returns the number of the line at a position, from 1.
func (d *Document) Line(pos int) int {
	if d.ends == nil {
		d.ends = make([]int, 0, len(d.src)/32)
		for i, b := range d.src {
			if b == '\n' {
				d.ends = append(d.ends, i)
			}
		}
	}
	return sort.SearchInts(d.ends, pos) + 1
}
