package docs

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// define takes down which labels of links lead out of the repository.
func (r *reader) define(blocks []leaf) {
	r.external = make(map[string]bool)
	for i := range blocks {
		if blocks[i].kind != paragraph {
			continue
		}
		for _, line := range blocks[i].lines {
			label, dest, ok := definition(string(r.src[line.Start:line.End]))
			if !ok {
				break
			}
			l := string(r.src[line.Start:line.End])
			if key := labelKey(label); key != "" {
				if _, twice := r.external[key]; !twice {
					r.external[key] = elsewhereLink(l[dest.Start:dest.End])
				}
			}
		}
	}
}

// definition takes a line apart that defines a label: [label]: destination.
func definition(line string) (label string, dest Span, ok bool) {
	if len(line) == 0 || line[0] != '[' || len(line) > 1 && line[1] == '^' {
		return "", Span{}, false
	}
	end := strings.Index(line[:min(len(line), 1000)], "]:")
	if end < 2 || strings.ContainsAny(line[1:end], "[]") {
		return "", Span{}, false
	}
	at := end + 2
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	dest, next, ok := destination(line, at)
	if !ok || next < len(line) && line[next] != ' ' && line[next] != '\t' || dest.Start == dest.End {
		return "", Span{}, false
	}
	return line[1:end], dest, true
}

func labelKey(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}

// destination reads the destination of a link at a place, and returns where it ends.
func destination(t string, at int) (dest Span, next int, ok bool) {
	if at < len(t) && t[at] == '<' {
		for i := at + 1; i < len(t); i++ {
			switch t[i] {
			case '\\':
				i++
			case '>':
				return Span{at + 1, i}, i + 1, true
			case '<', '\n':
				return Span{}, 0, false
			}
		}
		return Span{}, 0, false
	}
	depth, i := 0, at
loop:
	for ; i < len(t); i++ {
		switch b := t[i]; {
		case b == '\\' && i+1 < len(t) && t[i+1] != '\n':
			i++
		case b == '(':
			if depth++; depth > 16 {
				return Span{}, 0, false
			}
		case b == ')':
			if depth--; depth < 0 {
				break loop
			}
		case b <= ' ':
			break loop
		}
	}
	i = min(i, len(t))
	return Span{at, i}, i, true
}

// elsewhereLink reports whether a destination is outside of the repository.
func elsewhereLink(dest string) bool {
	if strings.HasPrefix(dest, "//") {
		return true
	}
	for i := range len(dest) {
		b := dest[i]
		switch {
		case b == ':':
			return i > 1
		case !isLetter(b) && (i == 0 || !isDigit(b) && b != '+' && b != '-' && b != '.'):
			return false
		}
	}
	return false
}

// linkName returns the path that a destination names, none if it leads elsewhere or
// into the document itself.
func linkName(dest string) (named, bool) {
	n := named{kind: Path}
	if dest == "" || len(dest) > 1000 || elsewhereLink(dest) || strings.ContainsAny(dest, "{}<>$|\n\"") || !utf8.ValidString(dest) {
		return n, false
	}
	end := len(dest)
	if i := strings.IndexAny(dest, "#?"); i >= 0 {
		end = i
	}
	start := 0
	for strings.HasPrefix(dest[start:end], "./") {
		start += 2
	}
	for end > start+1 && dest[end-1] == '/' {
		end--
		n.dir = true
	}
	raw := dest[start:end]
	name := decode(unescape(raw))
	if !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\n<>{}") || strings.Contains(name, "...") || strings.Contains(name, "…") {
		return n, false
	}
	switch name {
	case "", ".", "..", "/", "url", "link", "URL":
		return n, false
	}
	first, rest, _ := strings.Cut(strings.TrimLeft(name, "./"), "/")
	switch {
	case strings.HasPrefix(name, "../") && hostPages.has(first):
		return n, false // ../../issues, which the host of the repository makes
	case first == "www" || strings.HasPrefix(first, "www.") || rest != "" && name[0] != '.' && isDomain(first):
		return n, false
	case strings.HasPrefix(name, "mailto") || strings.HasPrefix(name, "~") || strings.Contains(name, "//"):
		return n, false
	}
	for part := range strings.SplitSeq(name, "/") {
		if placeholder(part) {
			return n, false
		}
	}
	if strings.Contains(name, "path/to") {
		return n, false
	}
	n.name = name
	n.start, n.end = start, end
	return n, true
}

// decode puts the bytes in that a destination has as %20.
func decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescape takes the backslashes from before punctuation.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && !isLetter(s[i+1]) && !isDigit(s[i+1]) && s[i+1] < utf8.RuneSelf {
			i++
		}
		b.WriteByte(s[i])
	}
	return strings.ReplaceAll(b.String(), "&amp;", "&")
}

var hostPages = lexicon{text: `issues pulls pull releases wiki actions discussions tree blob commit commits compare security stargazers
	network graphs settings milestones labels projects tags branches fork deployments packages contributors raw`}

// A bracket is an open one that a link may begin with.
type bracket struct {
	at    int
	found int // how much was found before
}

// inline reads the text of a block, and returns it with everything blanked that is
// not prose: code, destinations, markup.
func (r *reader) inline(p *passage, l *leaf) (mask string) {
	t := p.text
	if r.plain && !strings.ContainsAny(t, "`/@") || !strings.ContainsAny(t, "`<[/@") {
		return t
	}
	out := []byte(t)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = 0
		}
	}
	i := 0
	if l.kind == paragraph && !r.plain {
		i = r.definitions(p)
		blank(0, i)
	}
	ticks := tickRuns(t)
	var open []bracket
	unclosed := false // comments
	for i < len(t) {
		switch b := t[i]; {
		case r.mdx && strings.HasPrefix(t[i:], "{/*") && !unclosed:
			n := strings.Index(t[i:], "*/}")
			if n < 0 {
				unclosed = true
				continue
			}
			r.note(p, l, i, t[i+3:max(i+3, i+n)])
			blank(i, i+n+3)
			i += n + 3
		case l.kind == html && b != '<':
			i++
		case b == '`':
			next, end := ticks.span(i)
			if end == 0 {
				i = next
				continue
			}
			r.codeSpan(p, t, next, end)
			stop := end + (next - i)
			blank(i, stop)
			i = stop
		case r.plain:
			i++
		case b == '\\':
			i += 2
		case b == '<':
			stop := 0
			if strings.HasPrefix(t[i:], "<!--") && !unclosed {
				if n := strings.Index(t[i+4:], "-->"); n >= 0 {
					stop = i + 4 + n + 3
					r.note(p, l, i, t[i+4:i+4+n])
				} else {
					unclosed = true
				}
			} else if stop = tagEnd(t, i); stop > 0 {
				r.tag(p, t, i, stop)
			}
			if stop == 0 {
				i++
				continue
			}
			blank(i, stop)
			i = stop
		case b == '[':
			open = append(open, bracket{i, len(r.found)})
			i++
		case b == ']':
			i++
			if len(open) == 0 {
				continue
			}
			from := open[len(open)-1]
			open = open[:len(open)-1]
			stop := r.link(p, t, from, i)
			blank(i, stop)
			i = stop
		default:
			i++
		}
	}
	if l.kind != html {
		r.words(p, out)
	}
	return string(out)
}

// definitions reads the labels that a paragraph begins with, and returns where the
// text goes on.
func (r *reader) definitions(p *passage) int {
	at := 0
	for i := range p.lines {
		start := p.starts[i]
		end := len(p.text)
		if i+1 < len(p.starts) {
			end = p.starts[i+1]
		}
		line := strings.TrimSuffix(p.text[start:end], "\n")
		_, dest, ok := definition(line)
		if !ok {
			break
		}
		r.destination(p, start, line, dest)
		at = end
	}
	return at
}

// destination puts down where a link leads; dest is in piece, which begins at offset.
func (r *reader) destination(p *passage, offset int, piece string, dest Span) {
	text := piece[dest.Start:dest.End]
	if n, ok := linkName(text); ok {
		r.add(p, offset+dest.Start, text, n, Link)
	}
}

// link reads what follows the bracket that closes the text of a link, and returns
// where it ends. Code in the text of a link that leads elsewhere is somebody else's.
func (r *reader) link(p *passage, t string, from bracket, at int) int {
	forget := func() { r.forget(from.found, func(*found) bool { return true }) }
	if at < len(t) && t[at] == '(' {
		i := skipSpace(t, at+1)
		dest, next, ok := destination(t, i)
		if ok {
			next = skipSpace(t, next)
			if next < len(t) && (t[next] == '"' || t[next] == '\'' || t[next] == '(') {
				closer := t[next]
				if closer == '(' {
					closer = ')'
				}
				n := strings.IndexByte(t[next+1:min(len(t), next+1000)], closer)
				if n < 0 {
					return at
				}
				next = skipSpace(t, next+1+n+1)
			}
			if next >= len(t) || t[next] != ')' {
				return at
			}
			text := t[dest.Start:dest.End]
			n, ok := linkName(text)
			switch {
			case ok:
				// Its text says the same again.
				r.forget(from.found, func(f *found) bool { return strings.HasSuffix("/"+n.name, "/"+f.Name) })
				r.add(p, dest.Start, text, n, Link)
			case elsewhereLink(text):
				forget()
			}
			return next + 1
		}
		return at
	}
	label, stop := t[from.at+1:at-1], at
	if at < len(t) && t[at] == '[' {
		if n := strings.IndexAny(t[at+1:min(len(t), at+1000)], "[]"); n >= 0 && t[at+1+n] == ']' {
			stop = at + 1 + n + 1
			if full := t[at+1 : stop-1]; strings.TrimSpace(full) != "" {
				label = full
			}
		}
	}
	if len(label) < 1000 && len(r.external) > 0 && r.external[labelKey(label)] {
		forget()
	}
	return stop
}

// forget takes back what was found from an index on and is no link. Of a text with a
// great many things in it, which is no link that anyone wrote, nothing is.
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

// tickRun are the runs of backticks in a text: where each begins, how long it is, and
// which is the next of the same length.
type tickRun struct {
	start, size []int
	next        []int
	at          int
}

func tickRuns(t string) *tickRun {
	k := &tickRun{}
	for i := 0; i < len(t); {
		n := strings.IndexByte(t[i:], '`')
		if n < 0 {
			break
		}
		i += n
		size := 0
		for i+size < len(t) && t[i+size] == '`' {
			size++
		}
		k.start = append(k.start, i)
		k.size = append(k.size, size)
		i += size
	}
	k.next = make([]int, len(k.start))
	last := make(map[int]int)
	for i := len(k.start) - 1; i >= 0; i-- {
		k.next[i] = -1
		if n, ok := last[k.size[i]]; ok {
			k.next[i] = n
		}
		last[k.size[i]] = i
	}
	return k
}

// span returns where the code begins and ends that the backtick at a place opens. If
// it opens none, the end is zero and the start is behind the run. Places are asked for
// in order.
func (k *tickRun) span(i int) (start, end int) {
	for k.at < len(k.start) && k.start[k.at]+k.size[k.at] <= i {
		k.at++
	}
	if k.at == len(k.start) {
		return i + 1, 0
	}
	if k.start[k.at] != i { // its first one is escaped
		return k.start[k.at] + k.size[k.at], 0
	}
	n := k.next[k.at]
	if n < 0 {
		return i + k.size[k.at], 0
	}
	return i + k.size[k.at], k.start[n]
}

// codeSpan reads a span of code.
func (r *reader) codeSpan(p *passage, t string, start, end int) {
	if end-start > maxName+2 {
		return
	}
	if r.plain {
		for start < end && (t[start] == '~' || t[start] == '!') {
			start++
		}
		if end-start > 2 && t[start] == '_' && t[end-1] == '_' && t[start+1] != '_' { // set in italics
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

// tagEnd returns where the tag or the address ends that begins at a place, 0 if none
// does.
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

// tag reads where a tag leads.
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

// words reads the running text: words with a slash and an ending in them, and the
// imports of an agent's document.
func (r *reader) words(p *passage, text []byte) {
	t := string(text)
	if !strings.Contains(t, "/") && (!r.agent || !strings.Contains(t, "@")) {
		return
	}
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

func (r *reader) word(p *passage, t string, start, end int) {
	w := t[start:end]
	trimmed := strings.TrimLeft(w, "*")
	start += len(w) - len(trimmed)
	w = strings.TrimRight(trimmed, "*.:?")
	form := Word
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
		return // as likely a route
	}
	n.text = Span{0, len(w)}
	r.add(p, start, w, n, form)
}
