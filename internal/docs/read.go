package docs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"ken/internal/repo"
)

// A Document is what a document says of its repository.
type Document struct {
	Path     repo.Path
	Mentions []Mention // in the document's order
	Acks     []Ack     // likewise
	Partial  string    // why there may be more mentions; "" if these are all
}

const (
	// MaxBytes is how large a document may be to be read.
	MaxBytes = 1 << 20
	// maxMentions is how many mentions of one document are judged: each is looked for in the
	// document's older versions.
	maxMentions = 10_000
)

// The reasons not to read a document, besides those of whoever fetches it.
var (
	ErrTooLarge = errors.New("too large")
	ErrNotText  = errors.New("not text")
)

// Read returns what a document mentions. A document larger than [MaxBytes] is
// [ErrTooLarge], one with zero bytes near its front [ErrNotText], and one that
// would take long to parse [ErrTooComplex]. Bytes that are not UTF-8 are read past.
func Read(path repo.Path, content []byte) (*Document, error) {
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("read %s: %w: %d bytes; the limit is %d", path, ErrTooLarge, len(content), MaxBytes)
	}
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return nil, fmt.Errorf("read %s: %w: it contains zero bytes", path, ErrNotText)
	}
	r := reader{path: path, src: content, agent: roleOf(path) == Agent, mdx: strings.HasSuffix(string(path), ".mdx")}
	var blocks []block
	if isMarkdown(path) {
		var err error
		blocks, err = markdownBlocks(content)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	} else {
		r.plain = true
		blocks = paragraphs(content)
	}
	for i := range blocks {
		r.leaf(&blocks[i])
	}

	slices.SortStableFunc(r.found, func(a, b found) int { return cmp.Compare(a.pos, b.pos) })
	doc := &Document{Path: path, Acks: r.finish()}
	if more := len(r.found) - maxMentions; more > 0 {
		r.found = r.found[:maxMentions]
		doc.Partial = fmt.Sprintf("only the first %d mentions were judged, and there are %d more", maxMentions, more)
	}
	doc.Mentions = make([]Mention, len(r.found))
	for i, f := range r.found {
		doc.Mentions[i] = f.Mention
	}
	return doc, nil
}

// paragraphs returns the blocks of a text that is no Markdown: lines up to the next
// blank one. What is indented is code or a continuation, and left alone.
func paragraphs(src []byte) []block {
	var out []block
	open := false
	for at := 0; at < len(src); {
		end, next := lineEnd(src, at)
		line := src[at:end]
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			open = false
		case bytes.HasPrefix(line, []byte("    ")) || bytes.HasPrefix(line, []byte("\t")):
		default:
			if !open {
				out = append(out, block{kind: paragraph})
				open = true
			}
			last := &out[len(out)-1]
			last.lines = append(last.lines, Span{at, end})
		}
		at = next
	}
	return out
}

// A found is a mention with the place it stands at.
type found struct {
	Mention
	pos  int // in the document
	text int // in the passage, while that is read
}

// A reader reads one document.
type reader struct {
	path  repo.Path
	src   []byte
	agent bool // @path imports
	plain bool // no Markdown
	mdx   bool

	ends     []int // of the lines
	headings []section
	leads    []section // lines that end in a colon
	found    []found
	notes    []note
	off      int // which of them is open, counted from 1
}

// A section is what a heading or a leading line says of all that follows, so far as
// it is deeper.
type section struct {
	level int
	hedge hedge
}

// A passage is the text of a block, without what its lines are indented by, and
// where in the document it comes from.
type passage struct {
	text   string
	starts []int // of each line, in text
	lines  []Span
}

func (r *reader) passage(l *block) passage {
	p := passage{lines: l.lines, starts: make([]int, len(l.lines))}
	if len(l.lines) == 1 {
		p.text = string(r.src[l.lines[0].Start:l.lines[0].End])
		return p
	}
	var b strings.Builder
	for i, line := range l.lines {
		p.starts[i] = b.Len()
		b.Write(r.src[line.Start:line.End])
		b.WriteByte('\n')
	}
	p.text = b.String()
	return p
}

// at returns where in the document a place in the text is.
func (p *passage) at(i int) int {
	n := sort.SearchInts(p.starts, i+1) - 1
	if n < 0 {
		return 0
	}
	return min(p.lines[n].Start+i-p.starts[n], p.lines[n].End)
}

// from returns where in the text a place of the document is: the inverse of at.
func (p *passage) from(pos int) int {
	n := sort.Search(len(p.lines), func(i int) bool { return p.lines[i].Start > pos }) - 1
	if n < 0 {
		return 0
	}
	return p.starts[n] + min(pos, p.lines[n].End) - p.lines[n].Start
}

// lineOf returns the number of the line that a place is in.
func (r *reader) lineOf(pos int) int {
	if r.ends == nil {
		r.ends = make([]int, 0, len(r.src)/32)
		for at := 0; ; at++ {
			n := bytes.IndexByte(r.src[at:], '\n')
			if n < 0 {
				break
			}
			at += n
			r.ends = append(r.ends, at)
		}
	}
	return sort.SearchInts(r.ends, pos) + 1
}

// add puts down what a piece of the passage names; the piece begins at offset.
func (r *reader) add(p *passage, offset int, piece string, n named, form Form) *found {
	if n.text == (Span{}) {
		n.text = Span{0, len(piece)}
	}
	text := piece[n.text.Start:n.text.End]
	pos := p.at(offset + n.text.Start)
	f := found{
		Mention: Mention{
			File: r.path, Text: strings.ReplaceAll(text, "\n", " "), Kind: n.kind, Name: n.name, Tool: n.tool,
			Dir: n.dir, Glob: n.glob, In: n.in, Form: form,
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

// leaf reads a block.
func (r *reader) leaf(l *block) {
	before := len(r.found)
	p := r.passage(l)
	if t := strings.TrimSpace(p.text); r.mdx && l.kind == paragraph && strings.HasPrefix(t, "{/*") && strings.HasSuffix(t, "*/}") {
		l.kind = html // which has no other comments there
	}
	for len(r.leads) > 0 {
		last := r.leads[len(r.leads)-1]
		if last.level < l.depth || last.level == l.depth && l.kind == code {
			break
		}
		r.leads = r.leads[:len(r.leads)-1]
	}
	around := r.around()
	r.cover(l)
	switch l.kind {
	case heading:
		for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= l.level {
			r.headings = r.headings[:len(r.headings)-1]
		}
		around = r.around()
		mask := r.inline(&p, l)
		r.headings = append(r.headings, section{l.level, hedgeOfHeading(mask)})
		r.weigh(before, mask, around)
	case paragraph:
		if r.mdx && (strings.HasPrefix(p.text, "import ") || strings.HasPrefix(p.text, "export ")) {
			return
		}
		mask := r.inline(&p, l)
		last := r.weigh(before, mask, around)
		if t := strings.TrimRight(mask, " \t\n*_"); strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：") {
			r.leads = append(r.leads, section{l.depth, last()})
		}
	case html:
		r.inline(&p, l)
		r.weigh(before, "", around)
	case linkDefinition:
		r.define(&p)
		r.weigh(before, "", around)
	case code:
		r.code(&p, l, around)
	}
	for i := before; i < len(r.found); i++ {
		r.found[i].Line = r.lineOf(r.found[i].pos)
	}
}

// around returns how much the headings and leading lines above hedge.
func (r *reader) around() hedge {
	most := unhedged
	for _, s := range slices.Concat(r.headings, r.leads) {
		most = max(most, s.hedge)
	}
	return most
}

// weigh marks the mentions that were found from an index on by what the sentence that they
// stand in says, or by all if that says more. It returns how to learn that of the last sentence.
func (r *reader) weigh(from int, mask string, all hedge) (last func() hedge) {
	var ends []int
	known := make(map[int]hedge)
	sentence := func(at int) hedge {
		if mask == "" {
			return all
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
			is = max(all, hedgeOf(mask[start:ends[i]]))
			known[i] = is
		}
		return is
	}
	for i := from; i < len(r.found); i++ {
		r.found[i].hedge(sentence(r.found[i].text))
	}
	return func() hedge { return sentence(len(strings.TrimRight(mask, " \t\n")) - 1) }
}

// hedge notes what the words around a mention say.
func (m *Mention) hedge(h hedge) { m.Hedged, m.SaidGone = h >= doubtful, h == saidGone }

// code reads a block of code.
func (r *reader) code(p *passage, l *block, around hedge) {
	if len(l.lines) == 0 {
		return
	}
	switch {
	case drawings.has(l.info) || l.info == "":
		if names, comments, ok := drawnNames(p.text); ok {
			for i, n := range names {
				f := r.add(p, 0, p.text, n, Drawing)
				f.hedge(max(around, hedgeOf(comments[i])))
			}
			return
		}
	case shells.has(l.info):
	default:
		return
	}
	if l.info != "" && !shells.has(l.info) {
		return
	}
	for _, n := range shellNames(p.text, l.info != "") {
		r.add(p, 0, p.text, n, Block).hedge(around)
	}
}

var (
	shells   = lexicon{text: `sh bash shell console zsh terminal shell-session shellsession sh-session bash-session fish ksh shellscript`}
	drawings = lexicon{text: `text txt plain plaintext tree ascii none console sh bash shell markdown md dir directory nohighlight fs bash
		zsh terminal`}
)
