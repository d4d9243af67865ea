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

	"ken/internal/repo"
)

// A Document is the content of a document that ken checks.
type Document struct {
	Path     repo.Path
	Mentions []Mention // in the order of the document
	Acks     []Ack     // in the order of the document
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
// [ErrNotText] for one with zero bytes near its start, and [ErrTooComplex] for one that would be slow to parse.
// Read skips bytes that are not UTF-8.
func Read(doc repo.Path, content []byte) (*Document, error) {
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("read %s: %w: %d bytes; the limit is %d", doc, ErrTooLarge, len(content), MaxBytes)
	}
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return nil, fmt.Errorf("read %s: %w: it contains zero bytes", doc, ErrNotText)
	}
	r := reader{path: doc, src: content, agent: RoleOf(doc) == Agent, mdx: strings.HasSuffix(string(doc), ".mdx")}
	var blocks []block
	if IsMarkdown(doc) {
		var err error
		blocks, err = markdownBlocks(content)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", doc, err)
		}
	} else {
		r.plain = true
		blocks = paragraphs(content, strings.HasSuffix(string(doc), ".rst"))
	}
	for i := range blocks {
		r.readBlock(&blocks[i])
	}

	slices.SortStableFunc(r.found, func(a, b found) int { return cmp.Compare(a.pos, b.pos) })
	read := &Document{Path: doc, Acks: r.applyAcks()}
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

// paragraphs returns the blocks of a text that is not Markdown: lines up to the next blank one. Indented lines are
// code or a continuation, and are skipped. In reStructuredText, they are code only after two colons or a directive
// for code.
func paragraphs(src []byte, rst bool) []block {
	var out []block
	open := false
	literal := -1 // the indentation of the line that introduced the code; -1 outside of code
	language := ""
	var before Span // the previous line
	for at := 0; at < len(src); {
		end, next := lineEnd(src, at)
		line := src[at:end]
		indent := len(line) - len(bytes.TrimLeft(line, " \t"))
		blank := len(bytes.TrimSpace(line)) == 0
		if !blank && indent <= literal {
			literal, open = -1, false
		}
		switch {
		case blank && literal >= 0 && open && out[len(out)-1].kind == code:
			out[len(out)-1].lines = append(out[len(out)-1].lines, Span{end, end})
		case blank:
			open = false
		case literal >= 0:
			if !open {
				out = append(out, block{kind: code, info: language})
				open = true
			}
			last := &out[len(out)-1]
			last.lines = append(last.lines, Span{at, end})
		case !rst && (bytes.HasPrefix(line, []byte("    ")) || bytes.HasPrefix(line, []byte("\t"))):
		case rst && underline(line) && open && len(out[len(out)-1].lines) > 0 && out[len(out)-1].lines[len(out[len(out)-1].lines)-1] == before:
			out[len(out)-1].kind, out[len(out)-1].level = heading, headingLevel(line[0])
			open = false
		default:
			if !open {
				out = append(out, block{kind: paragraph})
				open = true
			}
			last := &out[len(out)-1]
			last.lines = append(last.lines, Span{at, end})
			if !rst {
				break
			}
			if lang, ok := codeDirective(line); ok {
				literal, language, open = indent, lang, false
			} else if bytes.HasSuffix(bytes.TrimRight(line, " \t"), []byte("::")) && !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("..")) {
				literal, language, open = indent, "", false
			}
		}
		if !blank {
			before = Span{at, end}
		}
		at = next
	}
	return out
}

// underline reports whether a line underlines a title in reStructuredText.
func underline(line []byte) bool {
	const shortest = 3
	line = bytes.TrimRight(line, " \t")
	return len(line) >= shortest && strings.IndexByte("=-~^\"'#*+:._", line[0]) >= 0 && run(line) == len(line)
}

// headingLevel returns the usual level of a title with this underline character.
func headingLevel(mark byte) int { return strings.IndexByte("#*=-~^\"'+:._", mark) + 1 }

// codeDirective reports whether a line of reStructuredText introduces code, and returns the language.
func codeDirective(line []byte) (language string, ok bool) {
	name, rest, found := strings.Cut(strings.TrimSpace(string(line)), "::")
	if !found {
		return "", false
	}
	switch strings.TrimPrefix(name, ".. ") {
	case "code-block", "code", "sourcecode":
		return strings.ToLower(strings.TrimSpace(rest)), true
	case "literal", "parsed-literal", "prompt":
		return "", true
	}
	return "", false
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
	agent bool // a document for agents, with @path imports
	plain bool // not Markdown
	mdx   bool

	ends     []int // of the lines
	headings []section
	leads    []section // lines that end in a colon
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

// lineOf returns the number of the line at a position.
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

// readBlock reads a block.
func (r *reader) readBlock(l *block) {
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
	r.coverBlock(l)
	switch l.kind {
	case heading:
		for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= l.level {
			r.headings = r.headings[:len(r.headings)-1]
		}
		around = r.around()
		mask := r.inline(&p, l)
		r.headings = append(r.headings, section{l.level, hedgeOfHeading(mask)})
		r.hedgeSentences(before, mask, around)
	case paragraph:
		if r.mdx && (strings.HasPrefix(p.text, "import ") || strings.HasPrefix(p.text, "export ")) {
			return
		}
		mask := r.inline(&p, l)
		last := r.hedgeSentences(before, mask, around)
		if t := strings.TrimRight(mask, " \t\n*_"); strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：") {
			r.leads = append(r.leads, section{l.depth, last()})
		}
	case html:
		r.inline(&p, l)
		r.hedgeSentences(before, "", around)
	case linkDefinition:
		r.define(&p)
		r.hedgeSentences(before, "", around)
	case code:
		r.code(&p, l, around)
	}
	for i := before; i < len(r.found); i++ {
		r.found[i].Line = r.lineOf(r.found[i].pos)
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
		r.found[i].SaidGoneInSentence = is == saidGone
	}
	return func() hedge { return max(all, sentence(len(strings.TrimRight(mask, " \t\n"))-1)) }
}

// hedge sets the hedge of a mention.
func (m *Mention) hedge(h hedge) { m.Hedged, m.SaidGone = h >= doubtful, h == saidGone }

// code reads a code block.
func (r *reader) code(p *passage, l *block, around hedge) {
	if len(l.lines) == 0 {
		return
	}
	if drawings.has(l.info) || l.info == "" {
		if names, comments, ok := drawnNames(p.text); ok {
			for i, n := range names {
				f := r.add(p, 0, p.text, n, Drawing)
				f.hedge(max(around, hedgeOf(comments[i])))
			}
			return
		}
	}
	known := len(r.found)
	if l.info == "" || shells.has(l.info) {
		for _, n := range shellNames(p.text, l.info != "") {
			r.add(p, 0, p.text, n, Block).hedge(around)
		}
	}
	if len(r.found) > known || shells.has(l.info) || prompted(p.text) != p.text || diffs.has(l.info) {
		return
	}
	for _, n := range pathWords(p.text) {
		r.add(p, 0, p.text, n, Block).hedge(around)
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
