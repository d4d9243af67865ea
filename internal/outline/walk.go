package outline

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"ken/internal/outline/syntax"
)

// A lead is what stands before a declaration and belongs to it: its comment, and
// attributes that the grammar has beside it.
type lead struct {
	start    int
	comments []syntax.Node
}

// each visits the declarations among some nodes, each with its lead. Broken
// syntax is looked through for what is whole in it.
func (r *reader) each(nodes []syntax.Node, visit func(n syntax.Node, l lead)) {
	var pending []syntax.Node // comments and attributes so far
	behind := -1              // the line on which the last declaration ended
	last := -1                // its symbol
	for _, n := range nodes {
		kind := n.Type()
		switch {
		case isComment(kind):
			if len(pending) == 0 && r.line(n.Start()) == behind && r.endsLine(n) {
				if last >= 0 {
					r.trailing(last, n)
				}
				continue
			}
			if len(pending) > 0 && !r.adjacent(pending[len(pending)-1], n) {
				pending = pending[:0]
			}
			pending = append(pending, n)
			continue
		case kind == "attribute_item" || kind == "inner_attribute_item":
			pending = append(pending, n)
			continue
		case kind == "ERROR":
			r.each(n.Children(), visit)
			pending, last = pending[:0], -1
			continue
		case !n.Named():
			continue // punctuation parts nothing
		}
		l := lead{start: n.Start()}
		if len(pending) > 0 && r.belongs(pending[len(pending)-1], n) {
			l.start = pending[0].Start()
			l.comments = slices.DeleteFunc(slices.Clone(pending), func(c syntax.Node) bool { return !isComment(c.Type()) })
		}
		pending = pending[:0]
		before := len(r.symbols)
		visit(n, l)
		behind, last = r.line(endOf(n)), -1
		if len(r.symbols) > before {
			last = before
		}
	}
}

// endsLine reports whether nothing follows a node on its line.
func (r *reader) endsLine(n syntax.Node) bool {
	rest, _, _ := bytes.Cut(r.src[n.End():], []byte("\n"))
	return len(bytes.TrimSpace(rest)) == 0 || r.src[endOf(n)] == '\n'
}

// adjacent reports whether no empty line parts two nodes.
func (r *reader) adjacent(a, b syntax.Node) bool { return r.line(endOf(a))+1 >= r.line(b.Start()) }

// belongs reports whether a comment is about what follows it: right above it, or
// of the form that documents wherever it stands, unless it is the file's own.
func (r *reader) belongs(comment, n syntax.Node) bool {
	return r.adjacent(comment, n) || comment.Start() >= r.headEnd && strings.HasPrefix(r.text(comment), "/**")
}

// endOf is where a node's last character is, which for some comments is the end
// of the line before the one that their text ends on.
func endOf(n syntax.Node) int { return max(n.Start(), n.End()-1) }

// trailing takes a comment on a declaration's last line for its documentation,
// where it is a member of something and has no other.
func (r *reader) trailing(i int, comment syntax.Node) {
	if s := &r.symbols[i]; s.Doc == "" && (s.Kind == Field || s.Kind == Member || s.Kind == Property || s.Kind == Const || s.Kind == Macro) {
		s.Doc = sentence(comment.Text(r.src))
		s.end = max(s.end, comment.End())
		r.docAt[comment.Start()] = true
	}
}

// add adds a symbol and returns its number. Its signature is the node up to end.
func (r *reader) add(kind Kind, name string, n syntax.Node, l lead, end int) int {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		name = strings.Join(strings.Fields(name), " ")
	}
	name = clip(name, 200)
	if name == "" {
		name = "(anonymous)"
	}
	s := draft{start: min(l.start, n.Start()), end: n.End()}
	s.Kind, s.Name, s.Qualified, s.Exported, s.Depth = kind, name, name, r.public, r.depth
	if r.owner != "" {
		s.Qualified = r.owner + "." + name
	}
	s.ranges = []span{{start: n.Start(), end: end}}
	s.without = attributes(n, nil)
	s.Doc = r.docOf(l.comments)
	r.symbols = append(r.symbols, s)
	return len(r.symbols) - 1
}

// attributes returns where a declaration's attributes and annotations are, which
// say more about what is done with it than about what it is. A Python decorator
// is none of them.
func attributes(n syntax.Node, out []span) []span {
	var few [16]syntax.Node
	for _, c := range n.AppendChildren(few[:0]) {
		switch c.Type() {
		case "attribute_list", "marker_annotation", "annotation", "attribute_declaration", "attribute_specifier":
			out = append(out, span{start: c.Start(), end: c.End()})
		case "modifiers":
			out = attributes(c, out)
		}
	}
	return out
}

// docOf returns the first sentence of a declaration's comment, and remembers that it
// documents something.
func (r *reader) docOf(comments []syntax.Node) string {
	var text strings.Builder
	for _, c := range comments {
		r.docAt[c.Start()] = true
		if t := c.Text(r.src); !isDirective(t) || strings.HasPrefix(t, "/**") {
			text.WriteString(strings.TrimRight(t, "\r\n"))
			text.WriteByte('\n')
		}
	}
	return sentence(text.String())
}

// within walks what is inside a symbol.
func (r *reader) within(i int, walk func()) {
	s := &r.symbols[i]
	if s.Depth+1 >= MaxDepth {
		return
	}
	owner, depth, public := r.owner, r.depth, r.public
	r.owner, r.depth, r.public = s.Qualified, s.Depth+1, s.Exported
	walk()
	r.owner, r.depth, r.public = owner, depth, public
}

// exporting walks or adds something as public or not.
func (r *reader) exporting(public bool, add func()) {
	was := r.public
	r.public = was && public
	add()
	r.public = was
}

// upTo is where a signature ends: before the first of a node's children that has
// one of the names, as a field or a type; else the node's end.
func upTo(n syntax.Node, names ...string) int {
	var few [16]syntax.Node
	for _, c := range n.AppendChildren(few[:0]) {
		if slices.Contains(names, c.Field()) || slices.Contains(names, c.Type()) {
			return c.Start()
		}
	}
	return n.End()
}

// name is the text of a node's name.
func (r *reader) name(n syntax.Node) string { return n.Child("name").Text(r.src) }

func (r *reader) text(n syntax.Node) string { return n.Text(r.src) }

// headDoc takes the comment that a file opens with for the file's own, unless it
// is a licence, a directive, or belongs to what follows.
func (r *reader) headDoc(nodes []syntax.Node) {
	for i := 0; i < len(nodes) && r.doc == ""; {
		if !isComment(nodes[i].Type()) {
			if k := nodes[i].Type(); k == "php_tag" || k == "hash_bang_line" ||
				k == "expression_statement" && strings.HasPrefix(unquote(r.text(nodes[i])), "use ") {
				i++
				continue
			}
			return
		}
		j := i + 1
		for j < len(nodes) && isComment(nodes[j].Type()) && r.adjacent(nodes[j-1], nodes[j]) {
			j++
		}
		group := slices.DeleteFunc(slices.Clone(nodes[i:j]), func(c syntax.Node) bool {
			t := c.Text(r.src)
			return isDirective(t) && !strings.HasPrefix(t, "/**")
		})
		attached := j < len(nodes) && r.adjacent(nodes[j-1], nodes[j]) && declares(nodes[j].Type())
		// A line above the imports is about them.
		if j < len(nodes) && r.adjacent(nodes[j-1], nodes[j]) && imports(nodes[j].Type()) && !strings.HasPrefix(r.text(nodes[i]), "/**") {
			attached = true
		}
		if len(group) > 0 && !attached && !isLicence(group, r.src) {
			r.doc, r.headEnd = r.docOf(group), nodes[j-1].End()
		}
		i = j
	}
}

// declares reports what a comment right above it would be about.
func declares(kind string) bool {
	for _, s := range [...]string{"import", "include", "use", "package", "namespace", "using", "preproc", "expression_statement", "require", "call", "command", "if_statement"} {
		if strings.HasPrefix(kind, s) {
			return kind == "namespace_definition"
		}
	}
	return true
}

func imports(kind string) bool {
	switch kind {
	case "call", "preproc_include", "import_statement", "import_from_statement", "use_declaration", "using_directive", "namespace_use_declaration":
		return true
	}
	return false
}

func isLicence(comments []syntax.Node, src []byte) bool {
	for _, c := range comments {
		t := strings.ToLower(c.Text(src))
		if strings.HasPrefix(t, "/**") { // its tags say that, its text may say more
			t, _, _ = strings.Cut(t, "* @")
		}
		for _, word := range [...]string{"copyright", "license", "licence", "spdx-", "all rights reserved", "generated by", "do not edit"} {
			if strings.Contains(t, word) {
				return true
			}
		}
	}
	return false
}
