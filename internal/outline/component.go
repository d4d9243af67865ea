package outline

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ken/internal/repo"
)

// A component is a file of Svelte, Vue or Astro: markup with blocks of TypeScript or JavaScript. It is read like a
// TypeScript file whose other bytes are spaces, so lines and offsets stay. Its markup counts as text that has no
// structure: any change of it is a change of the file's body.

// A componentKind is the extension of a component.
type componentKind string

const (
	svelte componentKind = ".svelte"
	vue    componentKind = ".vue"
	astro  componentKind = ".astro"
)

func componentKindOf(p repo.Path) componentKind {
	switch kind := componentKind(strings.ToLower(path.Ext(p.Base()))); kind {
	case svelte, vue, astro:
		return kind
	default:
		return ""
	}
}

// IsComponent reports whether a file is a component, which others import as a whole.
func IsComponent(p repo.Path) bool { return componentKindOf(p) != "" }

// readComponent parses the blocks of code of a component.
func readComponent(kind componentKind, src []byte, refs bool) (*file, error) {
	parts := splitComponent(kind, src)
	others := between(parts.code, len(src))
	f := newFile(parts.lang, src, refs)
	f.component = kind
	f.markup = between(parts.noMarkup, len(src))
	return f, f.readTree(blankSpans(src, others), others)
}

// between returns the ranges of a text that spans in order leave.
func between(spans []span, size int) (list []span) {
	last := 0
	for _, s := range append(slices.Clip(spans), span{start: size, end: size}) {
		if s.start > last {
			list = append(list, span{start: last, end: s.start})
		}
		last = s.end
	}
	return list
}

// componentParts are the ranges of the parts of a component.
type componentParts struct {
	lang     Language // TSX if a script says so
	code     []span
	noMarkup []span // code, styles and comments
}

func splitComponent(kind componentKind, src []byte) componentParts {
	parts := componentParts{lang: TypeScript}
	at := 0
	if kind == astro {
		if fence := inComponent().frontmatter.FindSubmatchIndex(src); fence != nil {
			body := span{start: fence[2], end: fence[3]}
			parts.code = append(parts.code, body)
			parts.noMarkup = append(parts.noMarkup, body)
			at = fence[1]
		}
	}
	for _, e := range elements(src, at) {
		parts.noMarkup = append(parts.noMarkup, e.body)
		code, isTSX := scriptKind(string(src[e.tag.start:e.tag.end]))
		if e.name != "script" || !code {
			continue
		}
		if isTSX {
			parts.lang = TSX
		}
		parts.code = append(parts.code, e.body)
	}
	return parts
}

// componentPatterns match parts of a component. They are compiled when a component is read.
type componentPatterns struct {
	frontmatter     *regexp.Regexp
	endTags         map[string]*regexp.Regexp // by the name of the element
	scriptAttribute *regexp.Regexp
}

var inComponent = sync.OnceValue(func() componentPatterns {
	return componentPatterns{
		frontmatter: regexp.MustCompile(`(?sm)\A\s*---[ \t]*\n(.*?)^---[ \t]*$`),
		endTags: map[string]*regexp.Regexp{
			"script": regexp.MustCompile(`(?i)</script`),
			"style":  regexp.MustCompile(`(?i)</style`),
		},
		scriptAttribute: regexp.MustCompile(`\b(?:lang|type)\s*=\s*["']?([^"'\s>]+)`),
	}
})

// scriptKind reports whether a script with these attributes has TypeScript or JavaScript, and whether it may have JSX.
func scriptKind(attributes string) (code, isTSX bool) {
	for _, m := range inComponent().scriptAttribute.FindAllStringSubmatch(attributes, -1) {
		switch strings.ToLower(m[1]) {
		case "ts", "typescript", "js", "javascript", "module", "text/typescript", "text/javascript", "application/javascript":
		case "tsx", "jsx":
			isTSX = true
		default:
			return false, false
		}
	}
	return true, isTSX
}

// An element is a script, a style or a comment of a component.
type element struct {
	name string // "" for a comment
	tag  span   // its attributes
	body span
}

// elements returns the scripts, styles and comments of markup. What is in one of them is no markup.
func elements(src []byte, at int) (list []element) {
	for at < len(src) {
		i := bytes.IndexByte(src[at:], '<')
		if i < 0 {
			break
		}
		at += i
		if bytes.HasPrefix(src[at:], []byte("<!--")) {
			end := after(src, at+4, "-->")
			list = append(list, element{body: span{start: at, end: end}})
			at = end
			continue
		}
		name := rawElement(src[at+1:])
		if name == "" {
			at++
			continue
		}
		tag := span{start: at + 1 + len(name), end: endOfTag(src, at)}
		at = tag.end
		if bytes.HasSuffix(src[:at], []byte("/>")) {
			continue
		}
		body := span{start: at, end: len(src)}
		if end := inComponent().endTags[name].FindIndex(src[at:]); end != nil {
			body.end = at + end[0]
		}
		list = append(list, element{name: name, tag: tag, body: body})
		at = body.end
	}
	return list
}

// rawElement returns the name of an opening tag whose element has no markup.
func rawElement(tag []byte) string {
	for _, name := range []string{"script", "style"} {
		if len(tag) <= len(name) || !strings.EqualFold(string(tag[:len(name)]), name) {
			continue
		}
		if next := tag[len(name)]; next == '>' || next == '/' || isSpace(next) {
			return name
		}
	}
	return ""
}

// endOfTag returns the offset behind an opening tag.
func endOfTag(src []byte, at int) int {
	quote := byte(0)
	for i := at; i < len(src); i++ {
		switch c := src[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(src)
}

// after returns the offset behind the next occurrence of a text, or the end.
func after(src []byte, at int, text string) int {
	if i := bytes.Index(src[min(at, len(src)):], []byte(text)); i >= 0 {
		return at + i + len(text)
	}
	return len(src)
}

// markupNames adds the names of imports that the markup of a component has as words.
func (t *treeNames) markupNames() {
	imported := make(map[string]string) // by the word that may stand for it
	for _, im := range t.found {
		for _, b := range im.Names {
			local := b.Local()
			if local == "" || im.Reexport {
				continue
			}
			imported[local] = local
			switch t.component {
			case svelte:
				imported["$"+local] = local // the value of a store
			case vue:
				imported[kebab(local)] = local
			case astro: // its markup has names as they are
			}
		}
	}
	if len(imported) == 0 {
		return
	}
	t.storeValues(imported)
	for _, m := range t.markup {
		t.wordsIn(m.start, m.end, imported)
	}
}

// storeValues makes uses of $name in the code uses of the import name.
func (t *treeNames) storeValues(imported map[string]string) {
	for i := range t.pending {
		m := &t.pending[i]
		if name := t.texts[m.name]; m.before.root == 0 && !m.member && strings.HasPrefix(name, "$") && imported[name] != "" {
			m.name = t.idOf(imported[name])
			continue
		}
		if root := t.texts[m.before.root]; strings.HasPrefix(root, "$") && imported[root] != "" {
			m.before = pathName{} // a member of the value, not of the store
			t.mention(t.idOf(imported[root]), int(m.at), mentionKind)
		}
	}
}

// wordsIn adds the imported names in a range of markup. A word behind a dot is a member of something else, and one
// before = is the name of an attribute.
func (t *treeNames) wordsIn(from, to int, imported map[string]string) {
	for at := from; at < to; {
		end := wordEnd(t.src, at, to)
		if end == at {
			_, size := utf8.DecodeRune(t.src[at:to])
			at += size
			continue
		}
		name := imported[string(t.src[at:end])]
		isMember := at > from && t.src[at-1] == '.' && !bytes.HasSuffix(t.src[:at], []byte("..."))
		isAttribute := at > from && isSpace(t.src[at-1]) && end < to && t.src[end] == '='
		if name != "" && !isMember && !isAttribute {
			end = t.markupPath(name, at, end, to)
		}
		at = end
	}
}

// markupPath adds a name, or the members that follow it, and returns its end.
func (t *treeNames) markupPath(name string, at, end, to int) int {
	path := singleName(t.idOf(name))
	isStore := t.src[at] == '$' && name[0] != '$'
	start := end
	for !isStore && start+1 < to && t.src[start] == '.' {
		next := wordEnd(t.src, start+1, to)
		if next == start+1 {
			break
		}
		path = t.step(path, t.separator, t.src[start+1:next], at, mentionKind)
		start = next
	}
	if start == end {
		t.mention(t.idOf(name), at, mentionKind)
	}
	return start
}

// wordEnd returns the end of the word at an offset. A word may have a hyphen inside, as names of elements do.
func wordEnd(src []byte, at, to int) int {
	end := at
	for end < to {
		r, size := utf8.DecodeRune(src[end:to])
		isHyphen := r == '-' && end > at && end+1 < to && isIdentifierRune(rune(src[end+1]))
		if !isIdentifierRune(r) && !isHyphen {
			break
		}
		end += size
	}
	return end
}

func isIdentifierRune(r rune) bool {
	return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

// kebab returns the name of a component as an element of Vue may write it: my-button for MyButton.
func kebab(name string) string {
	var out []byte
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				out = append(out, '-')
			}
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	if !slices.Contains(out, '-') {
		return name // button may be the element of HTML
	}
	return string(out)
}
