package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// A document is a JSON text with comments, and its values with their offsets. ken cuts and
// inserts bytes, and never prints other parts of the text again.
type document struct {
	text []byte
	root *hujson.Value
	made bool // a new file
}

// bom is the byte order mark that some editors write.
const bom = "\uFEFF"

func parse(text []byte) (*document, error) {
	if tooDeep(text) {
		return nil, malformed("nested too deeply")
	}
	// The parser does not know the byte order mark. Three spaces in its place keep the
	// offsets.
	plain := text
	if bytes.HasPrefix(text, []byte(bom)) {
		plain = append([]byte("   "), text[len(bom):]...)
	}
	root, err := hujson.Parse(plain)
	if err != nil {
		return nil, malformed("not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if root.Value.Kind() != '{' {
		return nil, malformed("not a JSON object")
	}
	return &document{text: text, root: &root}, nil
}

// A partLocation is the location of a part: a member of an object or an element of an array,
// with everything that encloses it.
type partLocation struct {
	doc  *document
	in   []*hujson.Value // the enclosing objects and arrays, outermost first
	at   []int           // the index in each; the last is that of the part
	item hujson.Value    // the part's value
}

// find finds a part; nil if it is missing.
func (d *document) find(p Part) (*partLocation, error) {
	loc := &partLocation{doc: d}
	v := d.root
	for n, step := range p.At {
		i, err := member(v, step, p.At[:n])
		if err != nil || i < 0 {
			return nil, err
		}
		loc.in, loc.at = append(loc.in, v), append(loc.at, i)
		v = &v.Value.(*hujson.Object).Members[i].Value
	}
	if p.Name != "" {
		i, err := member(v, p.Name, p.At)
		if err != nil || i < 0 {
			return nil, err
		}
		loc.in, loc.at = append(loc.in, v), append(loc.at, i)
		loc.item = v.Value.(*hujson.Object).Members[i].Value
		return loc, nil
	}
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, malformed("%s is not an array", strings.Join(p.At, "."))
	}
	for i := range list.Elements {
		e := &list.Elements[i]
		if isHook(e, p.Event) {
			loc.in, loc.at, loc.item = append(loc.in, v), append(loc.at, i), *e
			return loc, nil
		}
		// The user put ken's hook into a group with other hooks.
		inner := e.Find("/hooks")
		if inner == nil || inner.Value.Kind() != '[' {
			continue
		}
		group := e.Value.(*hujson.Object)
		hooks := inner.Value.(*hujson.Array)
		for k := range hooks.Elements {
			if !isHook(&hooks.Elements[k], p.Event) {
				continue
			}
			loc.in, loc.at = append(loc.in, v), append(loc.at, i)
			if len(hooks.Elements) == 1 {
				loc.item = *e
				return loc, nil
			}
			for m := range group.Members {
				if &group.Members[m].Value == inner {
					loc.in, loc.at = append(loc.in, e), append(loc.at, m)
				}
			}
			loc.in, loc.at, loc.item = append(loc.in, inner), append(loc.at, k), hooks.Elements[k]
			return loc, nil
		}
	}
	return nil, nil
}

// member returns the index of a member of an object; -1 if it is missing. way is the path to
// the object, for errors.
func member(v *hujson.Value, name string, way []string) (int, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return -1, malformed("%s is not an object", strings.Join(way, "."))
	}
	at := -1
	for i := range o.Members {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			if at >= 0 {
				return -1, malformed("duplicate member %q", name)
			}
			at = i
		}
	}
	return at, nil
}

// isHook reports whether an element runs a command of ken hook.
func isHook(v *hujson.Value, event string) bool {
	c := v.Find("/command")
	if c == nil {
		return false
	}
	l, ok := c.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return false
	}
	for _, run := range strings.SplitAfter(l.String(), "ken hook ")[1:] {
		if verb, _, _ := strings.Cut(run, " "); verb == event {
			return true
		}
	}
	return false
}

// equals reports whether the part has a value, whatever its layout.
func (p *partLocation) equals(value string) bool {
	v := p.item.Clone()
	v.Minimize()
	return string(v.Pack()) == value
}

// runsKen reports whether the server starts ken.
func (p *partLocation) runsKen() bool {
	v := p.item.Clone()
	v.Standardize()
	var s struct {
		Command     json.RawMessage `json:"command"`
		Env         map[string]any  `json:"env"`
		Environment map[string]any  `json:"environment"`
	}
	if json.Unmarshal(v.Pack(), &s) != nil {
		return false
	}
	var words []string
	if json.Unmarshal(s.Command, &words) != nil {
		var word string
		if json.Unmarshal(s.Command, &word) != nil {
			return false
		}
		words = []string{word}
	}
	return len(words) > 0 && isKen(words[0], s.Env, s.Environment)
}

// isKen reports whether a command with a client's variables starts a program named ken that does not come from the
// repository: a client would look for a relative path there, and PATH can name any directory.
func isKen(command string, env ...map[string]any) bool {
	command = strings.ReplaceAll(command, `\`, "/")
	dir, program := path.Split(command)
	onDisk := len(dir) > 1 && dir[1] == ':' // Windows
	isOutside := dir == "" || path.IsAbs(dir) || onDisk
	for _, variables := range env {
		for name := range variables {
			if dir == "" && strings.EqualFold(name, "PATH") {
				return false
			}
		}
	}
	return isOutside && strings.TrimSuffix(program, ".exe") == serverName
}

// items has the offsets of the items of an object or array, and whether a comma follows the
// last one.
type items struct {
	start, end []int
	comma      bool
}

func itemsOf(v *hujson.Value) items {
	var it items
	switch c := v.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			it.start, it.end = append(it.start, m.Name.StartOffset), append(it.end, m.Value.EndOffset)
		}
		if n := len(c.Members); n > 0 {
			it.comma = c.Members[n-1].Value.AfterExtra != nil
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			it.start, it.end = append(it.start, e.StartOffset), append(it.end, e.EndOffset)
		}
		if n := len(c.Elements); n > 0 {
			it.comma = c.Elements[n-1].AfterExtra != nil
		}
	}
	return it
}

// insert adds a part, with the objects and arrays around it that are missing.
func (d *document) insert(p Part) ([]byte, error) {
	v := d.root
	at := p.At
	for len(at) > 0 {
		i, err := member(v, at[0], p.At[:len(p.At)-len(at)])
		if err != nil {
			return nil, err
		}
		if i < 0 {
			break
		}
		v, at = &v.Value.(*hujson.Object).Members[i].Value, at[1:]
	}
	item := p.Value
	if p.Name == "" && len(at) > 0 {
		item = "[" + item + "]"
	}
	if p.Name != "" {
		if v.Value.Kind() != '{' {
			return nil, malformed("%s is not an object", strings.Join(p.At, "."))
		}
		at = append(at[:len(at):len(at)], p.Name)
	} else if len(at) == 0 && v.Value.Kind() != '[' {
		return nil, malformed("%s is not an array", strings.Join(p.At, "."))
	}
	for i := len(at) - 1; i >= 0; i-- {
		item = fmt.Sprintf("%q:%s", at[i], item)
		if i > 0 {
			item = "{" + item + "}"
		}
	}
	return d.appendItem(v, item)
}

// appendItem adds an item at the end of an object or array.
func (d *document) appendItem(v *hujson.Value, item string) ([]byte, error) {
	it, unit, eol := itemsOf(v), d.unit(), d.eol()
	closing := v.EndOffset - 1
	n := len(it.end)
	if n == 0 {
		// The layout shows that the object or array existed and was empty: a mark, or a
		// line end on one side only.
		inner := d.text[v.StartOffset+1 : closing]
		if len(inner) == 0 && !d.made {
			around := d.indentAt(v.StartOffset)
			if v != d.root && !d.ownLine(v.StartOffset) {
				return splice(d.text, closing, closing, markEmpty(compact(item))), nil
			}
			return splice(d.text, closing, closing, eol+around+unit+markEmpty(d.indented(item, around+unit))+eol+around), nil
		}
		kept := len(bytes.TrimRight(inner, " \t\r\n"))
		at := v.StartOffset + 1 + kept
		indent := d.indentAt(v.StartOffset) + unit
		lead := eol + indent
		if bytes.IndexByte(inner[kept:], '\n') >= 0 && !d.made && !bytes.Contains(inner[:kept], []byte("//")) {
			lead = ""
		}
		return splice(d.text, at, at, lead+d.indented(item, indent)), nil
	}
	last := it.end[n-1]
	indent, own := d.lineIndent(it.start[n-1])
	lead := " "
	text := compact(item)
	if own {
		lead, text = eol+indent, d.indented(item, indent)
	}
	// Comments after the last value stay after it.
	from := last
	if it.comma {
		from = last + bytes.IndexByte(blankComments(d.text[last:closing]), ',') + 1
	}
	behind := d.text[from:closing]
	kept := len(bytes.TrimRight(behind, " \t\r\n"))
	if !own && bytes.Contains(behind[:kept], []byte("//")) {
		lead = eol
	}
	at := from + kept
	if it.comma {
		return splice(d.text, at, at, lead+text+","), nil
	}
	return splice(splice(d.text, at, at, lead+text), last, last, ","), nil
}

// remove removes a part, and the objects and arrays that ken added around it. bare says that
// ken created the whole text, and that it is empty now.
func (d *document) remove(p *partLocation) (out []byte, bare bool) {
	// Go outwards while the enclosing value holds nothing else and has the layout that ken
	// writes.
	depth := len(p.in) - 1
	for depth >= 0 && d.isOnlyItem(p.in[depth]) {
		if depth == 0 {
			return nil, true
		}
		depth--
	}
	v, i := p.in[depth], p.at[depth]
	it := itemsOf(v)
	n := len(it.end)
	if n == 1 && !it.comma && d.wasEmpty(v) {
		return splice(d.text, v.StartOffset+1, v.EndOffset-1, ""), false
	}
	begin := func(i int) int { // after the comma or bracket before it, and the comments there
		from := v.StartOffset + 1
		if i > 0 {
			from = it.end[i-1] + bytes.IndexByte(blankComments(d.text[it.end[i-1]:it.start[i]]), ',') + 1
		}
		return from + len(bytes.TrimRight(d.text[from:it.start[i]], " \t\r\n"))
	}
	end := it.end[i]
	if i < n-1 || it.comma {
		end += bytes.IndexByte(blankComments(d.text[end:v.EndOffset]), ',') + 1
		return splice(d.text, begin(i), end, ""), false
	}
	out = splice(d.text, begin(i), end, "")
	if i > 0 {
		last := it.end[i-1]
		comma := last + bytes.IndexByte(blankComments(d.text[last:it.start[i]]), ',')
		out = splice(out, comma, comma+1, "")
	}
	return out, false
}

// isOnlyItem reports whether an object or array holds one item in the layout that ken writes:
// on its own lines or, within a line, without spaces.
func (d *document) isOnlyItem(v *hujson.Value) bool {
	it := itemsOf(v)
	if len(it.end) != 1 || it.comma || d.wasEmpty(v) {
		return false
	}
	before, after := d.text[v.StartOffset+1:it.start[0]], d.text[it.end[0]:v.EndOffset-1]
	return blankLine(before) && blankLine(after) || v != d.root && len(before)+len(after) == 0
}

// emptyMark follows the first name in an object or array that was empty before. It has one
// more space than usual.
const emptyMark = `":  `

func markEmpty(item string) string { return strings.Replace(item, `": `, emptyMark, 1) }

// wasEmpty reports whether an object or array was empty before ken added its item.
func (d *document) wasEmpty(v *hujson.Value) bool {
	first := v
	if list, ok := v.Value.(*hujson.Array); ok && len(list.Elements) == 1 {
		first = &list.Elements[0]
	}
	o, ok := first.Value.(*hujson.Object)
	if !ok || len(o.Members) == 0 {
		return false
	}
	m := &o.Members[0]
	return string(d.text[m.Name.EndOffset-1:m.Value.StartOffset]) == emptyMark
}

// ownLine reports whether the value at an offset, or its name, is the first on its line.
func (d *document) ownLine(at int) bool {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	return start > 0 && memberLine().Match(d.text[start:at])
}

// memberLine matches the start of a line with at most the name of a member.
var memberLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*("(?:[^"\\]|\\.)*"\s*:\s*)?$`) })

// blankLine reports whether a text is a line end and an indent.
func blankLine(text []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(text, []byte("\r")), []byte("\n"))
	return ok && len(bytes.Trim(rest, " \t")) == 0
}

// indented returns an item on several lines. The first line has its indent already.
func (d *document) indented(item, indent string) string {
	var buf bytes.Buffer
	prefix, body := "", item
	if strings.HasPrefix(item, `"`) { // a member
		at := strings.Index(item, `":`) + 2
		prefix, body = item[:at]+" ", item[at:]
	}
	if err := json.Indent(&buf, []byte(body), indent, d.unit()); err != nil {
		panic(err) // the values are in client_table.go
	}
	text := prefix + buf.String()
	return strings.ReplaceAll(joinWordLists(text), "\n", d.eol())
}

// wordList matches an array of strings.
var wordList = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[\s*("[^"]*"(?:,\s*"[^"]*")*)\s*\]`)
})

// joinWordLists puts each array of strings on one line.
func joinWordLists(text string) string {
	return wordList().ReplaceAllStringFunc(text, func(list string) string {
		return "[" + strings.Join(strings.Fields(list[1:len(list)-1]), " ") + "]"
	})
}

// compact returns an item on one line.
func compact(item string) string {
	return strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(item)
}

// unit returns the indent of the first member, or two spaces.
func (d *document) unit() string {
	o := d.root.Value.(*hujson.Object)
	if len(o.Members) > 0 {
		if indent, own := d.lineIndent(o.Members[0].Name.StartOffset); own && indent != "" {
			return indent
		}
	}
	return "  "
}

// eol returns the line end of the text.
func (d *document) eol() string {
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent returns the white space at the start of the line of an offset. own says that
// nothing else is before the offset.
func (d *document) lineIndent(at int) (indent string, own bool) {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	line := d.text[start:at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0 && start > 0
}

func (d *document) indentAt(at int) string {
	indent, _ := d.lineIndent(at)
	return indent
}

// blankComments replaces comments between two values by spaces, so that every comma in the
// result is one.
func blankComments(between []byte) []byte {
	out := bytes.Clone(between)
	for i := 0; i+1 < len(out); i++ {
		var end int
		switch string(out[i : i+2]) {
		case "//":
			end = i + len(out[i:])
			if n := bytes.IndexByte(out[i:], '\n'); n >= 0 {
				end = i + n
			}
		case "/*":
			end = i + 2 + bytes.Index(out[i+2:], []byte("*/")) + 2
		default:
			continue
		}
		for ; i < end; i++ {
			out[i] = ' '
		}
	}
	return out
}

// splice replaces the bytes between two offsets.
func splice(text []byte, from, to int, with string) []byte {
	return []byte(string(text[:from]) + with + string(text[to:]))
}
