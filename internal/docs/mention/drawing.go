package mention

import (
	"path"
	"strings"
	"unicode/utf8"
)

// A drawn is a line of a drawing of a directory tree.
type drawn struct {
	col        int // the column of the name
	name       string
	start, end int    // of the name, in the text
	more       []Span // further names on the line, separated by commas
	comment    string
	branch     bool // the line has branch characters before the name
}

// drawnNames returns the paths in a drawing of a directory tree, each with the comment beside it. If the text is
// not a drawing, ok is false.
func drawnNames(text string) (names []nameInText, comments []string, ok bool) {
	if strings.ContainsAny(text, "┐┘┤┼╮╯┓┛╗╝") {
		return nil, nil, false // box drawings
	}
	lines, branches := drawnLines(text)
	if branches < 2 && !indented(lines, text) {
		return nil, nil, false
	}
	type level struct {
		col   int
		path  string
		named int // its index in names, -1 for none
		void  bool
	}
	var stack []level
	root := ""
	for _, l := range lines {
		if branches > 0 && !l.branch {
			// A line without a branch is a root, or text around the drawing.
			stack = stack[:0]
			root = ""
			name := strings.TrimSuffix(strings.TrimPrefix(l.name, "./"), "/")
			if l.name == "." || name == "" || !utf8.ValidString(name) {
				continue
			}
			if p, ok := pathOf(l.name); ok && (p.dir || l.comment == "") {
				root = p.name
				if p.dir {
					p = p.shift(l.start)
					p.text = Span{l.start, l.end}
					names = append(names, p)
					comments = append(comments, l.comment)
				}
			} else if strings.ContainsAny(name, " <>{}$*") {
				continue
			} else if l.comment == "" {
				root = name
			}
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].col >= l.col {
			stack = stack[:len(stack)-1]
		}
		parent := level{named: -1}
		if len(stack) > 0 {
			parent = stack[len(stack)-1]
			if parent.named >= 0 {
				names[parent.named].dir = true
			}
		}
		first := len(names)
		void := parent.void || len(stack) > 60
		for i, at := range append([]Span{{l.start, l.end}}, l.more...) {
			name := text[at.Start:at.End]
			dir := strings.HasSuffix(name, "/")
			bare := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
			if !drawable(bare) || void {
				void = void || i == 0
				continue
			}
			n := nameInText{kind: Path, name: path.Join(parent.path, bare), in: root, dir: dir, text: at}
			if parent.path == "" {
				n.start = at.Start + strings.Index(name, bare)
				n.end = n.start + len(bare)
			}
			names = append(names, n)
			comments = append(comments, l.comment)
		}
		lv := level{col: l.col, named: -1, void: void}
		if len(names) > first {
			lv.named = first
			lv.path = names[first].name
		}
		if len(lv.path) > maxName {
			lv.void = true
		}
		stack = append(stack, lv)
	}
	return names, comments, true
}

// drawnLines parses the lines of a drawing, and counts those with branches.
func drawnLines(text string) (lines []drawn, branches int) {
	at := 0
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n \t")
		l := drawn{}
		i := 0
		for i < len(line) {
			r, size := utf8.DecodeRuneInString(line[i:])
			if strings.ContainsRune("│├└─┬┃┣┗━╠╚═║", r) {
				l.branch = true
			} else if r != ' ' && r != '\t' && r != '\u00a0' {
				if n := asciiBranch(line[i:]); n > 0 {
					l.branch = true
					l.col += n
					i += n
					continue
				}
				if r == '|' {
					l.col++
					i++
					continue
				}
				break
			}
			if r == '\t' {
				l.col += 3
			}
			l.col++
			i += size
		}
		if i >= len(line) {
			continue
		}
		if l.branch {
			branches++
		}
		l.start = start + i
		rest := line[i:]
		end := len(rest)
		if n := strings.IndexAny(rest, " \t"); n >= 0 {
			end = n
		}
		l.name = strings.TrimSuffix(rest[:end], ",")
		l.end = l.start + len(l.name)
		for rest[:end] != l.name && end > 0 && strings.HasSuffix(rest[:end], ",") && len(l.more) < 20 {
			next := end
			for next < len(rest) && rest[next] == ' ' {
				next++
			}
			stop := len(rest)
			if n := strings.IndexAny(rest[next:], " \t"); n >= 0 {
				stop = next + n
			}
			word := strings.TrimSuffix(rest[next:stop], ",")
			if word == "" {
				break
			}
			l.more = append(l.more, Span{start + i + next, start + i + next + len(word)})
			if word == rest[next:stop] {
				end = stop
				break
			}
			end = stop
		}
		l.comment = strings.TrimSpace(rest[end:])
		lines = append(lines, l)
	}
	return lines, branches
}

// asciiBranch returns the length of a branch in ASCII characters.
func asciiBranch(s string) int {
	for _, b := range []string{"|-- ", "`-- ", "+-- ", `\-- `, "|___", "|__ ", "|-", "+--- ", `\--- `, "|--", "`--"} {
		if strings.HasPrefix(s, b) {
			return len(b)
		}
	}
	return 0
}

// drawable reports whether a name in a drawing is a file name and not a placeholder.
func drawable(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > maxName || placeholder(s) || strings.Contains(s, "...") || strings.Contains(s, "//") {
		return false
	}
	glob, ok := plainOrGlob(s)
	return ok && !glob && s[0] != '/' && s[0] != '~' && s[0] != '-' && utf8.ValidString(s)
}

// indented reports whether lines without branches are a drawing by indentation alone: only names, below a first
// one that is a directory.
func indented(lines []drawn, text string) bool {
	if len(lines) < 3 || !strings.HasSuffix(lines[0].name, "/") || lines[0].branch {
		return false
	}
	deeper := 0
	for i, l := range lines {
		name := strings.TrimSuffix(l.name, "/")
		_, ok := pathOf(l.name)
		if !ok && !strings.HasSuffix(l.name, "/") && !strings.HasPrefix(name, ".") && !strings.Contains(name, "...") && name != "…" {
			return false
		}
		if l.comment != "" && !isComment(l, text) {
			return false
		}
		if i > 0 && l.col > lines[0].col {
			deeper++
		}
	}
	return deeper >= 2
}

// isComment reports whether the text after a name on its line is separated from it.
func isComment(l drawn, text string) bool {
	for _, mark := range []string{"#", "//", "←", "<-", "-", "—", "–", "("} {
		if strings.HasPrefix(l.comment, mark) {
			return true
		}
	}
	end := l.end
	return strings.HasPrefix(text[end:], "  ") || strings.HasPrefix(text[end:], "\t")
}
