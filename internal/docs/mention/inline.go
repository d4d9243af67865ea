package mention

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ken/internal/markup"
)

// inline reads the text of a block. It returns the text with spaces in place of everything that is not prose:
// code, destinations, markup.
func (r *reader) inline(p *passage, l *markup.Block) (mask string) {
	out := make([]byte, len(p.text))
	known := len(r.found)
	switch {
	case r.plain:
		copy(out, p.text)
		r.directives(p, out)
		r.plainSpans(p, out)
	case l.Kind == markup.HTML:
		r.tags(p, l, 0, p.text)
	default:
		r.spans(p, l, out)
	}
	if r.mdx {
		r.mdxComments(p, l, known, out)
	}
	if l.Kind != markup.HTML {
		r.words(p, out)
	}
	return string(out)
}

// spans reads the inline parts of a block and copies its prose to out.
func (r *reader) spans(p *passage, l *markup.Block, out []byte) {
	var before []int // for each open link, the number of mentions found before it
	end := 0         // the end of the last part that was read
	for _, part := range l.Inlines() {
		start := p.from(part.Start)
		switch part.Kind {
		case markup.Text:
			end = p.from(part.End)
			copy(out[start:end], p.text[start:end])
			if end < len(p.text) && p.text[end] == '\n' {
				out[end] = '\n'
			}
		case markup.CodeSpan:
			end = p.from(part.End)
			r.codeSpan(p, p.text, start, end)
		case markup.Tag:
			end = p.from(part.End)
			r.tags(p, l, start, p.text[start:end])
		case markup.LinkStart:
			before = append(before, len(r.found))
			end = start
		case markup.LinkEnd:
			last := len(before) - 1
			end = r.link(p, before[last], end, part.Reference, part.Destination)
			before = before[:last]
		}
	}
}

// link reads the destination of a link, and returns where it ends. The link text ends at the position at, and
// known mentions were found before it. Code in the text of a link to another site is not of this repository.
func (r *reader) link(p *passage, known, at int, reference bool, to string) int {
	if elsewhereLink(to) {
		// The address of a file on the host of the repository contains its path. A page about a symbol has its
		// name.
		r.forget(known, func(f *found) bool {
			isPage := f.Kind == Path && pageOf(to, f.Name) || f.Kind == Symbol && strings.HasSuffix(to, "#"+SymbolWord(f.Name))
			return !isPage
		})
	}
	closing := strings.IndexByte(p.text[at:], ']')
	if reference || closing < 0 {
		return at
	}
	at += closing + 1
	if at == len(p.text) || p.text[at] != '(' {
		return at
	}
	dest, next, ok := destination(p.text, skipSpace(p.text, at+1))
	if !ok {
		return at
	}
	text := p.text[dest.Start:dest.End]
	r.anchor(p, dest.Start, text)
	if n, ok := linkName(text); ok {
		// The text of the link repeats the destination.
		r.forget(known, func(f *found) bool { return strings.HasSuffix("/"+n.name, "/"+f.Name) })
		r.add(p, dest.Start, text, n, Link)
	}
	return next
}

// pageOf reports whether an address is the page of a file on a branch: /blob/main/ and its path. The page of a
// file in a commit never changes.
func pageOf(address, name string) bool {
	address, _, _ = strings.Cut(address, "#")
	branch, ok := strings.CutSuffix(address, "/"+name)
	if !ok || !strings.Contains(name, "/") {
		return false
	}
	branch, ref := path.Split(branch)
	return strings.HasSuffix(branch, "/blob/") && (len(ref) < 7 || strings.Trim(ref, "0123456789abcdef") != "")
}

// forget removes the mentions from an index on that satisfy is and are not links. It does nothing for a text with
// very many mentions, which no author would write as a link.
func (r *reader) forget(from int, is func(*found) bool) {
	if len(r.found)-from > 64 {
		return
	}
	r.found = append(r.found[:from], slices.DeleteFunc(r.found[from:], func(f found) bool {
		return f.Form != Link && is(&f)
	})...)
}

func skipSpace(t string, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '\n') {
		i++
	}
	return i
}

// define reads the destination of a definition: [label]: destination.
func (r *reader) define(p *passage) {
	if _, dest, ok := definition(p.text); ok {
		r.destination(p, 0, p.text, dest)
	}
}

// destination adds the destination of a link; dest is a span of piece, which begins at offset.
func (r *reader) destination(p *passage, offset int, piece string, dest Span) {
	text := piece[dest.Start:dest.End]
	r.anchor(p, offset+dest.Start, text)
	if n, ok := linkName(text); ok {
		r.add(p, offset+dest.Start, text, n, Link)
	}
}

// anchor adds the heading that a link leads to.
func (r *reader) anchor(p *passage, offset int, dest string) {
	page, fragment, ok := strings.Cut(dest, "#")
	if !ok || fragment == "" || r.plain || len(fragment) > maxName || strings.ContainsAny(fragment, "/:!=?&~{}<>$\\%") || elsewhereLink(dest) {
		return
	}
	n := nameInText{kind: Anchor, name: fragment, casual: true}
	if page != "" {
		to, ok := linkName(page)
		ext := path.Ext(to.name)
		if !ok || to.dir && ext != "" || ext != "" && ext != ".html" && markup.FormatOf(to.name) != markup.Markdown {
			return
		}
		n.in = to.name
	}
	r.add(p, offset, dest, n, Link)
}

// plainSpans reads the code spans in a text that is not Markdown, and blanks them in out.
func (r *reader) plainSpans(p *passage, out []byte) {
	t := p.text
	for i := 0; i < len(t); {
		n := strings.IndexByte(t[i:], '`')
		if n < 0 {
			return
		}
		start := len(t) - len(strings.TrimLeft(t[i+n:], "`"))
		ticks := t[i+n : start]
		// A longer span is not a name.
		ahead := t[start:min(len(t), start+maxName+2+len(ticks))]
		size := strings.Index(ahead, ticks)
		if size < 0 {
			i = start
			continue
		}
		end := start + size
		r.codeSpan(p, t, start, end)
		i = end + len(ticks)
		clear(out[start-len(ticks) : i])
	}
}

// directives reads the paths that reStructuredText directives include, and blanks them in out.
func (r *reader) directives(p *passage, out []byte) {
	at := 0
	for line := range strings.Lines(p.text) {
		if dest, ok := directivePath(line); ok {
			r.destination(p, at, line, dest)
			clear(out[at+dest.Start : at+dest.End])
		}
		at += len(line)
	}
}

// tags reads the comments and tags in a piece of HTML, which begins at offset.
func (r *reader) tags(p *passage, l *markup.Block, offset int, piece string) {
	for i := 0; i < len(piece); {
		n := strings.IndexByte(piece[i:], '<')
		if n < 0 {
			return
		}
		i += n
		if rest, ok := strings.CutPrefix(piece[i:], "<!--"); ok {
			size := strings.Index(rest, "-->")
			if size < 0 {
				return
			}
			r.parseAck(p, l, offset+i, rest[:size])
			i += len("<!--") + size + len("-->")
			continue
		}
		stop := tagEnd(piece, i)
		if stop == 0 {
			i++
			continue
		}
		r.tag(p, p.text, offset+i, offset+stop)
		i = stop
	}
}

// mdxComments reads the comments of MDX, and blanks them in out. It drops the mentions inside them; the first
// known mentions belong to other blocks.
func (r *reader) mdxComments(p *passage, l *markup.Block, known int, out []byte) {
	for i := 0; ; {
		n := strings.Index(p.text[i:], "{/*")
		if n < 0 {
			return
		}
		start := i + n
		size := strings.Index(p.text[start:], "*/}")
		if size < 0 {
			return
		}
		i = start + size + len("*/}")
		r.parseAck(p, l, start, p.text[start+len("{/*"):max(start+len("{/*"), start+size)])
		clear(out[start:i])
		r.found = append(r.found[:known], slices.DeleteFunc(r.found[known:], func(f found) bool {
			return start <= f.text && f.text < i
		})...)
	}
}

// codeSpan reads a code span.
func (r *reader) codeSpan(p *passage, t string, start, end int) {
	if end-start > maxName+2 {
		return
	}
	for start < end && (t[start] == '~' && end-start > 1 && t[start+1] != '/' || t[start] == '!') {
		start++ // Sphinx syntax
	}
	if r.plain {
		if end-start > 2 && t[start] == '_' && t[end-1] == '_' && t[start+1] != '_' { // italics
			start, end = start+1, end-1
		}
	}
	piece := t[start:end]
	for _, n := range spanNames(piece) {
		if n.text == (Span{}) {
			trimmed := strings.Trim(piece, " \t\n")
			at := strings.Index(piece, trimmed)
			n.text = Span{at, at + len(trimmed)}
		}
		r.add(p, start, piece, n, Code)
	}
}

// tagEnd returns the end of the tag or autolink that begins at i, 0 if there is none.
func tagEnd(t string, i int) int {
	if i+2 >= len(t) {
		return 0
	}
	if b := t[i+1]; !isLetter(b) && b != '/' {
		return 0
	}
	var quote byte
	for j := i + 1; j < min(len(t), i+4000); j++ {
		switch b := t[j]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '>':
			return j + 1
		case b == '<':
			return 0
		case (b == '"' || b == '\'') && t[j-1] == '=':
			quote = b
		}
	}
	return 0
}

// tag reads the destination of a tag.
func (r *reader) tag(p *passage, t string, i, end int) {
	tag := t[i:end]
	for _, attr := range []string{"href=", "src="} {
		n := strings.Index(tag, attr)
		if n < 1 || strings.IndexByte(" \t\n", tag[n-1]) < 0 {
			continue
		}
		at := n + len(attr)
		if at >= len(tag) || tag[at] != '"' && tag[at] != '\'' {
			continue
		}
		if n := strings.IndexByte(tag[at+1:], tag[at]); n >= 0 {
			r.destination(p, i, tag, Span{at + 1, at + 1 + n})
		}
	}
}

// words reads the running text: words with a slash and an extension, and the imports of a document for agents.
func (r *reader) words(p *passage, text []byte) {
	t := string(text)
	for i := 0; i < len(t); {
		start := i
		odd := false
		for i < len(t) {
			c, size := rune(t[i]), 1
			if c >= utf8.RuneSelf {
				c, size = utf8.DecodeRuneInString(t[i:])
				if !unicode.IsLetter(c) && !unicode.IsMark(c) || c >= 0x2e80 {
					break
				}
				odd = true
			} else if c <= ' ' || strings.IndexByte(",;!'\"()[]|", byte(c)) >= 0 {
				break
			}
			i += size
		}
		if i == start {
			_, size := utf8.DecodeRuneInString(t[i:])
			i += size
			continue
		}
		if odd || i-start > maxName {
			continue
		}
		r.word(p, t, start, i)
	}
}

// identifierOf returns the symbol in a word of running text. Its spelling must be that of a program: fooBar, foo_bar.
func identifierOf(w string) (nameInText, bool) {
	called := strings.HasSuffix(w, "()")
	name := strings.TrimSuffix(w, "()")
	if !IsSpelledLikeCode(name) || !identifier(name) || !symbolic([]string{name}, called, "") {
		return nameInText{}, false
	}
	return nameInText{kind: Symbol, name: name, casual: true, end: len(name), text: Span{0, len(w)}}, true
}

func (r *reader) word(p *passage, t string, start, end int) {
	w := t[start:end]
	trimmed := strings.TrimLeft(w, "*")
	start += len(w) - len(trimmed)
	w = strings.TrimRight(trimmed, "*.:?")
	form := Word
	if n, ok := identifierOf(w); ok {
		r.add(p, start, w, n, form)
		return
	}
	if r.agent && strings.HasPrefix(w, "@") {
		if start > 0 && strings.IndexByte(" \t\n(", t[start-1]) < 0 {
			return
		}
		form = Import
		w = w[1:]
		start++
	} else if !strings.Contains(w, "/") {
		return
	}
	n, ok := pathOf(w)
	if !ok || n.glob || n.dir && form == Word || strings.ContainsAny(w, "[]()") {
		return
	}
	if dot := strings.LastIndexByte(n.name, '.'); dot < 0 || !isExtension(n.name[dot:]) {
		if form != Import || !strings.HasPrefix(w, "./") && !strings.HasPrefix(w, "../") {
			return
		}
	}
	if form == Word && strings.HasPrefix(n.name, "/") {
		return // it may be a route
	}
	n.text = Span{0, len(w)}
	r.add(p, start, w, n, form)
}
