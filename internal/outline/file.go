package outline

import (
	"bytes"
	"slices"
	"strings"
)

// A file collects the data for an outline. The reader of a language fills in the items, which are the file's
// tokens in order, and the symbols, which are ranges of items. The digests are computed here for all
// languages.
type file struct {
	lang     Language
	src      []byte
	doc      string
	pkg      string
	imports  []string
	items    []item
	names    []string // names of tree nodes, see item.name
	symbols  []draft
	partial  string
	broken   int  // number of bytes in syntax errors
	noTokens bool // the items are unreliable: the outline has no Tokens
	lines    []int
	scratch  *scratch

	component componentKind // "" if the file is none
	markup    []span        // of a component

	wantRefs bool
	refs     *References
}

// An item is a token, or the start or end of a node in the syntax tree.
type item struct {
	start, end uint32 // byte range
	name       uint16 // index into file.names
	kind       itemKind
}

type itemKind byte

const (
	leaf       itemKind = 't' // a token, by its bytes
	verbatim   itemKind = 'a' // a directive or skipped text, by its bytes
	docs       itemKind = 'd' // a doc comment, by its words
	prose      itemKind = 'p' // running text, by its bytes without line breaks
	whiteToken itemKind = 'm' // a token of white space, by its name
	opened     itemKind = '('
	closed     itemKind = ')'

	blanks    itemKind = 'w' // white space within a line, by its bytes
	lineBreak itemKind = 'n' // the end of a line and any empty lines after it
	indent    itemKind = '>'
	dedent    itemKind = '<'
)

// A draft is a symbol without its digests.
type draft struct {
	Symbol
	start, end int // byte range, including the comment
	from, to   int // range of items
	prefix     string
	ranges     []span // ranges of its signature
	without    []span // attributes in these ranges
	hidden     bool   // not exported, even if its owner is
}

func newFile(lang Language, src []byte, refs bool) *file {
	s, _ := scratches.Get().(*scratch)
	return &file{lang: lang, src: src, wantRefs: refs, scratch: s, items: s.items[:0], symbols: s.symbols[:0], lines: appendLines(s.lines[:0], src)}
}

// line returns the line number of an offset, from 1.
func (f *file) line(offset int) int {
	i, found := slices.BinarySearch(f.lines, offset)
	if found {
		return i + 1
	}
	return i
}

// note sets the reason why the outline may be incomplete. The first reason wins.
func (f *file) note(reason string) {
	if f.partial == "" {
		f.partial = reason
	}
}

// addImport adds an import. outline removes duplicates.
func (f *file) addImport(name string) {
	if name = strings.TrimSpace(name); name != "" && len(f.imports) < MaxSymbols {
		f.imports = append(f.imports, name)
	}
}

// itemsIn returns the range of items that start between two offsets.
func (f *file) itemsIn(start, end int) (from, to int) {
	at := func(offset int) int {
		i, _ := slices.BinarySearchFunc(f.items, offset, func(it item, offset int) int { return int(it.start) - offset })
		return i
	}
	return at(start), at(end)
}

// joinLines joins the lines of running text, except at hard line breaks.
func joinLines(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if len(out) > 0 {
			line = bytes.TrimLeft(line, " \t")
		}
		body := bytes.TrimRight(line, " \t\r\n")
		out = append(out, body...)
		switch {
		case len(body) == len(line): // the last line
		case bytes.HasSuffix(body, []byte(`\`)) || bytes.HasPrefix(line[len(body):], []byte("  ")):
			out = append(out, '\n')
		default:
			out = append(out, ' ')
		}
	}
	return out
}

// outline returns the outline of the file.
func (f *file) outline() *Outline {
	o := &Outline{
		Language: f.lang, Doc: f.doc, Package: f.pkg, Imports: unique(f.imports), Partial: f.partial,
		More: max(0, len(f.symbols)-MaxSymbols),
	}
	d := &f.scratch.hash
	d.reset()
	if !f.noTokens {
		f.encode()
		d.text('l', string(f.lang))
		d.encoded(f.scratch.code)
		o.Tokens = d.digest()
	}
	if n := min(len(f.symbols), MaxSymbols); n > 0 {
		o.Symbols = make([]Symbol, 0, n)
	}
	shapes := make([]string, 0, len(f.symbols))
	all := &f.scratch.outlineHash
	all.reset()
	all.text('l', string(f.lang))
	all.text('d', f.doc)
	all.text('p', f.pkg)
	for _, imp := range o.Imports {
		all.text('i', imp)
	}
	words := f.scratch.words[:0]
	for i := range f.symbols {
		s := &f.symbols[i]
		f.finish(s, d)
		name := append(append(append(words[:0], s.Kind...), 0), s.FullName()...)
		if name = append(name, 0); s.Exported {
			name = append(name, '+')
		}
		size := len(name)
		words = append(name, s.Shape[:]...)
		shapes = append(shapes, string(words))
		words = append(append(append(words[:size], s.Doc...), 0), s.Shape[:]...)
		all.part('s', words)
		all.number('n', s.Depth)
		if i < MaxSymbols {
			o.Symbols = append(o.Symbols, s.Symbol)
		}
	}
	f.scratch.words = words[:0]
	o.Digest = all.digest()
	slices.Sort(shapes)
	d.reset()
	for _, s := range shapes {
		d.text('s', s)
	}
	o.Interface = d.digest()
	return o
}

// finish sets the lines and digests of a draft. Its signature and Shape are already set.
func (f *file) finish(s *draft, d *digester) {
	s.Line, s.EndLine = f.line(s.start), f.line(max(s.start, s.end-1))
	if s.Qualified == s.Name {
		s.Qualified = ""
	}
	d.reset()
	d.part('x', f.src[s.start:s.end])
	s.Text = d.sum()
	if !f.noTokens {
		d.reset()
		d.encoded(f.codeOf(s.from, s.to))
		s.Tokens = d.sum()
	}
}

func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}
