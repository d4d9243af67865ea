package outline

import (
	"bytes"
	"slices"
	"strings"
)

// A file is an outline in the making. A reader of one language fills in the
// items, which are the file's tokens in order, and the symbols, each a range of
// items; what is said of them is the same for all languages and done here.
type file struct {
	lang    Language
	src     []byte
	doc     string
	pkg     string
	imports []string
	items   []item
	names   []string // of marks
	symbols []draft
	partial string
	broken  int  // bytes that do not parse
	blind   bool // the items are not to be trusted: there is no Tokens
	lines   []int
	scratch *scratch

	wantRefs bool
	refs     *References
}

// An item is one token, or a mark where a part of the syntax tree begins or ends.
type item struct {
	start, end uint32 // its bytes
	name       uint16 // of a mark, in the file's names
	what       itemKind
}

type itemKind byte

const (
	leaf   itemKind = 't' // a token: its bytes count
	aside  itemKind = 'a' // text that was not read: its bytes count
	docs   itemKind = 'd' // a doc comment or directive: its words count
	prose  itemKind = 'p' // running text: its bytes count, but not where lines end
	mark   itemKind = 'm' // a token of white space: that it is there counts
	opened itemKind = '('
	closed itemKind = ')'

	blanks    itemKind = 'w' // white space within a line: its bytes count
	lineBreak itemKind = 'n' // the end of a line, however many empty lines follow
	indent    itemKind = '>'
	dedent    itemKind = '<'
)

// A draft is a symbol before its digests are made.
type draft struct {
	Symbol
	start, end int // its bytes, the comment included
	from, to   int // its items
	prefix     string
	ranges     []span // of its signature
	without    []span // in them: attributes
	hidden     bool   // asks not to be used, whoever exports its owner
}

func newFile(lang Language, src []byte) *file {
	s, _ := scratches.Get().(*scratch)
	return &file{lang: lang, src: src, scratch: s, items: s.items[:0], symbols: s.symbols[:0], lines: appendLines(s.lines[:0], src)}
}

// line returns the line that an offset is on, from 1.
func (f *file) line(offset int) int {
	i, found := slices.BinarySearch(f.lines, offset)
	if found {
		return i + 1
	}
	return i
}

// note records why the outline may miss something; the first reason stays.
func (f *file) note(reason string) {
	if f.partial == "" {
		f.partial = reason
	}
}

// importing adds an import, once.
func (f *file) importing(name string) {
	if name = strings.TrimSpace(name); name != "" && len(f.imports) < MaxSymbols {
		f.imports = append(f.imports, name)
	}
}

// itemsIn returns the range of items that lie within some bytes.
func (f *file) itemsIn(start, end int) (from, to int) {
	at := func(offset int) int {
		i, _ := slices.BinarySearchFunc(f.items, offset, func(it item, offset int) int { return int(it.start) - offset })
		return i
	}
	return at(start), at(end)
}

// unwrapped joins the lines of running text, but for those that end in a break.
func unwrapped(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if len(out) > 0 {
			line = bytes.TrimLeft(line, " \t")
		}
		body := bytes.TrimRight(line, " \t\r\n")
		out = append(out, body...)
		switch {
		case len(body) == len(line): // the last
		case bytes.HasSuffix(body, []byte(`\`)) || bytes.HasPrefix(line[len(body):], []byte("  ")):
			out = append(out, '\n')
		default:
			out = append(out, ' ')
		}
	}
	return out
}

// outline makes the outline of what was read.
func (f *file) outline() *Outline {
	o := &Outline{
		Language: f.lang, Doc: f.doc, Package: f.pkg, Imports: unique(f.imports), Partial: f.partial,
		More: max(0, len(f.symbols)-MaxSymbols),
	}
	d := &f.scratch.hash
	d.reset()
	if !f.blind {
		f.encode()
		d.text('l', string(f.lang))
		d.coded(f.scratch.code)
		o.Tokens = d.digest()
	}
	if n := min(len(f.symbols), MaxSymbols); n > 0 {
		o.Symbols = make([]Symbol, 0, n)
	}
	shapes := make([]string, 0, len(f.symbols))
	all := &f.scratch.another
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

// finish computes what follows from a draft's ranges. Its signature and shape
// are there already.
func (f *file) finish(s *draft, d *digester) {
	s.Line, s.EndLine = f.line(s.start), f.line(max(s.start, s.end-1))
	if s.Qualified == s.Name {
		s.Qualified = ""
	}
	d.reset()
	d.part('x', f.src[s.start:s.end])
	s.Text = d.sum()
	if !f.blind {
		d.reset()
		d.coded(f.codeOf(s.from, s.to))
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
