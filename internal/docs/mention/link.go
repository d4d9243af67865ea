package mention

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// definition parses a line that defines a label: [label]: destination.
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

// destination parses the destination of a link at a position, and returns where it ends.
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
			return i > 1 && !strings.HasPrefix(dest[i:], "::") // crate::item
		case !isLetter(b) && (i == 0 || !isDigit(b) && b != '+' && b != '-' && b != '.'):
			return false
		}
	}
	return false
}

// linkName returns the path of a destination, and false if it leads to another site or into the document itself.
func linkName(dest string) (nameInText, bool) {
	n := nameInText{kind: Path}
	if dest == "" || len(dest) > 1000 || elsewhereLink(dest) || strings.Contains(dest, "::") || strings.ContainsAny(dest, "{}<>$|\n\"") || !utf8.ValidString(dest) {
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
		return n, false // ../../issues, a page of the repository's host
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

// decode replaces percent-encoded bytes such as %20.
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

// unescape removes the backslashes before punctuation.
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
