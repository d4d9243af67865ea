package mention

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"ken/internal/markup"
	"ken/internal/repo"
)

// A Document is the content of a document that ken checks.
type Document struct {
	Path     repo.Path
	Mentions []Mention // in the order of the document
	Partial  string    // why there may be more mentions; "" if the list is complete
}

const (
	// MaxBytes limits the size of a document.
	MaxBytes = 1 << 20
	// maxMentions limits the mentions of one document: each is searched for in older versions of the document.
	maxMentions = 10_000
)

// The reasons not to read a document, besides those of the caller.
var (
	ErrTooLarge = errors.New("too large")
	ErrNotText  = errors.New("not text")
)

// Read returns the mentions in a document. The error is [ErrTooLarge] for a document larger than [MaxBytes],
// [ErrNotText] for one with zero bytes near its start, and [markup.ErrTooComplex] for one that would be slow to parse.
// Read skips bytes that are not UTF-8.
func Read(doc repo.Path, content []byte) (*Document, error) {
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("read %s: %w: %d bytes; the limit is %d", doc, ErrTooLarge, len(content), MaxBytes)
	}
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return nil, fmt.Errorf("read %s: %w: it contains zero bytes", doc, ErrNotText)
	}
	format := markup.FormatOf(string(doc))
	parsed, err := markup.Parse(format, content)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", doc, err)
	}
	r := reader{
		path: doc, src: content, doc: parsed,
		declared: make(map[string]bool),
		agent:    RoleOf(doc) == Agent, plain: format != markup.Markdown, mdx: strings.HasSuffix(string(doc), ".mdx"),
	}
	for i := range parsed.Blocks {
		if format != markup.Plain || r.dropCode(&parsed.Blocks[i]) {
			r.readBlock(&parsed.Blocks[i])
		}
	}

	r.readUnparsed()
	r.applyDeclared()
	slices.SortStableFunc(r.found, func(a, b found) int { return cmp.Compare(a.pos, b.pos) })
	r.applyAcks()
	read := &Document{Path: doc}
	if more := len(r.found) - maxMentions; more > 0 {
		r.found = r.found[:maxMentions]
		read.Partial = fmt.Sprintf("only the first %d mentions were judged, and there are %d more", maxMentions, more)
	}
	read.Mentions = make([]Mention, len(r.found))
	for i, f := range r.found {
		read.Mentions[i] = f.Mention
	}
	return read, nil
}

// directivePath returns the span of the path that a reStructuredText directive includes.
func directivePath(line string) (Span, bool) {
	for _, name := range []string{".. image::", ".. figure::", ".. include::", ".. literalinclude::"} {
		if i := strings.Index(line, name); i >= 0 && strings.TrimSpace(line[:i]) == "" {
			start := i + len(name)
			start += len(line[start:]) - len(strings.TrimLeft(line[start:], " \t"))
			end := len(strings.TrimRight(line, " \t\r\n"))
			return Span{start, end}, end > start && !strings.Contains(line[start:end], " ")
		}
	}
	return Span{}, false
}

// A found is a mention with its position.
type found struct {
	Mention
	pos  int // in the document
	text int // in the passage, while it is read
}

// A reader reads one document.
type reader struct {
	path  repo.Path
	src   []byte
	doc   *markup.Document
	agent bool // a document for agents, with @path imports
	plain bool // not Markdown
	mdx   bool

	headings []section
	declared map[string]bool // names that a block of code or a heading declares
	leads    []section       // lines that end in a colon
	unparsed []passage       // blocks of code
	found    []found
	notes    []ackComment
	off      int // the number of the open one, from 1; 0 for none
}

// A section is the hedge of a heading or an introductory line, for the deeper text that follows.
type section struct {
	level int
	hedge hedge
}

// A passage is the text of a block, without its indentation, with its positions in the document.
type passage struct {
	text   string
	starts []int // of each line, in text
	lines  []markup.Span
}

func (r *reader) passage(l *markup.Block) passage {
	p := passage{lines: l.Lines, starts: make([]int, len(l.Lines))}
	if len(l.Lines) == 1 {
		p.text = string(r.src[l.Lines[0].Start:l.Lines[0].End])
		return p
	}
	var b strings.Builder
	for i, line := range l.Lines {
		p.starts[i] = b.Len()
		b.Write(r.src[line.Start:line.End])
		b.WriteByte('\n')
	}
	p.text = b.String()
	return p
}

// at returns the position in the document of a position in the text.
func (p *passage) at(i int) int {
	n := sort.SearchInts(p.starts, i+1) - 1
	if n < 0 {
		return 0
	}
	return min(p.lines[n].Start+i-p.starts[n], p.lines[n].End)
}

// from returns the position in the text of a position in the document: the inverse of at.
func (p *passage) from(pos int) int {
	n := sort.Search(len(p.lines), func(i int) bool { return p.lines[i].Start > pos }) - 1
	if n < 0 {
		return 0
	}
	return p.starts[n] + min(pos, p.lines[n].End) - p.lines[n].Start
}

// add adds the name in a piece of the passage; the piece begins at offset.
func (r *reader) add(p *passage, offset int, piece string, n nameInText, form Form) *found {
	if n.text == (Span{}) {
		n.text = Span{0, len(piece)}
	}
	text := piece[n.text.Start:n.text.End]
	pos := p.at(offset + n.text.Start)
	f := found{
		Mention: Mention{
			File: r.path, Text: strings.ReplaceAll(text, "\n", " "), Kind: n.kind, Name: n.name, Tool: n.tool,
			Dir: n.dir, Glob: n.glob, In: n.in, Form: form, Casual: n.casual || n.kind == Symbol && IsCapitalised(text),
		},
		pos: pos, text: offset + n.text.Start,
	}
	if n.end > n.start {
		at := Span{p.at(offset + n.start), p.at(offset+n.end-1) + 1}
		if at.End-at.Start == len(n.name) && string(r.src[at.Start:at.End]) == n.name {
			f.At = at
		}
	}
	r.found = append(r.found, f)
	return &r.found[len(r.found)-1]
}

// dropCode removes the lines of plain text that may be code, and reports whether others are left.
func (r *reader) dropCode(l *markup.Block) bool {
	l.Lines = slices.DeleteFunc(l.Lines, func(at markup.Span) bool { return markup.IsIndented(string(r.src[at.Start:at.End])) })
	return len(l.Lines) > 0
}

// readBlock reads a block.
func (r *reader) readBlock(l *markup.Block) {
	before := len(r.found)
	p := r.passage(l)
	if t := strings.TrimSpace(p.text); r.mdx && l.Kind == markup.Paragraph && strings.HasPrefix(t, "{/*") && strings.HasSuffix(t, "*/}") {
		l.Kind = markup.HTML // which has no other comments there
	}
	for len(r.leads) > 0 {
		last := r.leads[len(r.leads)-1]
		if last.level < l.Depth || last.level == l.Depth && l.Kind == markup.Code {
			break
		}
		r.leads = r.leads[:len(r.leads)-1]
	}
	around := r.around()
	r.coverBlock(l)
	switch l.Kind {
	case markup.Heading:
		for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= l.Level {
			r.headings = r.headings[:len(r.headings)-1]
		}
		around = r.around()
		mask := r.inline(&p, l)
		for word := range strings.FieldsSeq(mask) {
			r.declared[word] = true
		}
		r.headings = append(r.headings, section{l.Level, hedgeOfHeading(mask)})
		r.hedgeSentences(before, mask, around)
	case markup.Paragraph:
		if r.mdx && (strings.HasPrefix(p.text, "import ") || strings.HasPrefix(p.text, "export ")) {
			return
		}
		mask := r.inline(&p, l)
		last := r.hedgeSentences(before, mask, around)
		if t := strings.TrimRight(mask, " \t\n*_"); strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：") {
			r.leads = append(r.leads, section{l.Depth, last()})
		}
	case markup.HTML:
		r.inline(&p, l)
		r.hedgeSentences(before, "", around)
	case markup.LinkDefinition:
		r.define(&p)
		r.hedgeSentences(before, "", around)
	case markup.Code:
		r.code(&p, l, around)
	}
	for i := before; i < len(r.found); i++ {
		r.found[i].Line = r.doc.Line(r.found[i].pos)
	}
}

// around returns the strongest hedge of the headings and introductory lines above.
func (r *reader) around() hedge {
	most := unhedged
	for _, s := range slices.Concat(r.headings, r.leads) {
		most = max(most, s.hedge)
	}
	return most
}

// hedgeSentences sets the hedge of the mentions from an index on: that of their sentence, or all if it is
// stronger. It returns a function for the hedge of the last sentence.
func (r *reader) hedgeSentences(from int, mask string, all hedge) (last func() hedge) {
	var ends []int
	known := make(map[int]hedge)
	sentence := func(at int) hedge {
		if mask == "" {
			return unhedged
		}
		if ends == nil {
			ends = sentences(mask)
		}
		i := sort.SearchInts(ends, at+1)
		if i == len(ends) {
			i--
		}
		is, ok := known[i]
		if !ok {
			start := 0
			if i > 0 {
				start = ends[i-1]
			}
			is = hedgeOf(mask[start:ends[i]])
			known[i] = is
		}
		return is
	}
	for i := from; i < len(r.found); i++ {
		is := sentence(r.found[i].text)
		r.found[i].hedge(max(all, is))
	}
	return func() hedge { return max(all, sentence(len(strings.TrimRight(mask, " \t\n"))-1)) }
}

// hedge sets the hedge of a mention.
func (m *Mention) hedge(h hedge) { m.Hedged, m.SaidGone = h >= doubtful, h == saidGone }

// code reads a code block.
func (r *reader) code(p *passage, l *markup.Block, around hedge) {
	if len(l.Lines) == 0 {
		return
	}
	if drawings.has(l.Language) || l.Language == "" {
		if names, comments, ok := drawnNames(p.text); ok {
			for i, n := range names {
				f := r.add(p, 0, p.text, n, Drawing)
				f.hedge(max(around, hedgeOf(comments[i])))
			}
			return
		}
	}
	if l.Language == "" || shells.has(l.Language) {
		for _, n := range optionWords(prompted(p.text)) {
			r.add(p, 0, p.text, n, Block).hedge(around)
		}
	}
	known := len(r.found)
	if l.Language == "" || shells.has(l.Language) {
		for _, n := range shellNames(p.text, l.Language != "") {
			r.add(p, 0, p.text, n, Block).hedge(around)
		}
	}
	if len(r.found) > known || shells.has(l.Language) || prompted(p.text) != p.text || diffs.has(l.Language) {
		return
	}
	for _, n := range pathWords(p.text) {
		r.add(p, 0, p.text, n, Block).hedge(around)
	}
	r.symbols(p, l, around)
}

// applyDeclared marks the symbols that the document itself declares. It drops them in blocks of code.
func (r *reader) applyDeclared() {
	r.found = slices.DeleteFunc(r.found, func(f found) bool {
		return f.Kind == Symbol && f.Form == Block && r.declared[f.Name]
	})
	for i := range r.found {
		m := &r.found[i].Mention
		m.Declared = m.Kind == Symbol && r.declared[SymbolWord(m.Name)]
	}
}

// pathWords returns the paths in a text of any language: words with a slash and an extension.
func pathWords(text string) []nameInText {
	const most = 200 // per block
	var list []nameInText
	for at := 0; at < len(text) && len(list) < most; {
		end := at
		for end < len(text) && strings.IndexByte(" \t\r\n\"'`()[]{}<>,;|=*&$!%^?", text[end]) < 0 {
			end++
		}
		word := strings.TrimRight(text[at:end], ".:")
		start := at
		at = end + 1
		if !strings.Contains(word, "/") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "../") || len(word) > maxName {
			continue
		}
		if start > 0 && strings.IndexByte("}$>*", text[start-1]) >= 0 || end < len(text) && strings.IndexByte("{$<*", text[end]) >= 0 {
			continue // a part of a longer name
		}
		n, ok := pathOf(word)
		if !ok || n.glob || n.dir || !isExtension(path.Ext(n.name)) || !strings.Contains(n.name, "/") {
			continue
		}
		n = n.shift(start)
		n.text, n.casual = Span{start, start + len(word)}, true
		list = append(list, n)
	}
	return list
}

var (
	shells   = lexicon{text: `sh bash shell console zsh terminal shell-session shellsession sh-session bash-session fish ksh shellscript`}
	drawings = lexicon{text: `text txt plain plaintext tree ascii none console sh bash shell markdown md dir directory nohighlight fs bash
		zsh terminal`}
	diffs = lexicon{text: `diff patch`}
)
