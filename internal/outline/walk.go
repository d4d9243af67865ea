package outline

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"ken/internal/outline/syntax"
)

// leadingNodes are the nodes before a declaration that belong to it: its comment, and attributes that are
// siblings in the grammar.
type leadingNodes struct {
	start    int
	comments []syntax.Node
}

// eachDeclaration visits the declarations among nodes, with their leading nodes. It descends into syntax
// errors to find the intact declarations in them.
func (r *reader) eachDeclaration(nodes []syntax.Node, visit func(n syntax.Node, l leadingNodes)) {
	var pending []syntax.Node // comments and attributes so far
	behind := -1              // last line of the previous declaration
	last := -1                // symbol of the previous declaration
	for _, n := range nodes {
		kind := n.Type()
		switch {
		case isComment(kind):
			if len(pending) == 0 && r.line(n.Start()) == behind && r.endsLine(n) {
				if last >= 0 {
					r.trailingDoc(last, n)
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
			r.eachDeclaration(n.Children(), visit)
			pending, last = pending[:0], -1
			continue
		case !n.Named():
			continue // punctuation does not separate a comment from its declaration
		}
		l := leadingNodes{start: n.Start()}
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

// endsLine reports whether n is the last node on its line.
func (r *reader) endsLine(n syntax.Node) bool {
	rest, _, _ := bytes.Cut(r.src[n.End():], []byte("\n"))
	return len(bytes.TrimSpace(rest)) == 0 || r.src[endOf(n)] == '\n'
}

// adjacent reports whether no empty line separates two nodes.
func (r *reader) adjacent(a, b syntax.Node) bool { return r.line(endOf(a))+1 >= r.line(b.Start()) }

// belongs reports whether a comment documents the node after it. That is a comment directly above the node,
// or any /** comment that is not the file's own.
func (r *reader) belongs(comment, n syntax.Node) bool {
	return r.adjacent(comment, n) || comment.Start() >= r.headEnd && strings.HasPrefix(r.text(comment), "/**")
}

// endOf returns the offset of a node's last character. For some comments that is their line break.
func endOf(n syntax.Node) int { return max(n.Start(), n.End()-1) }

// trailingDoc makes a comment on the last line of a member its documentation, unless it has another.
func (r *reader) trailingDoc(i int, comment syntax.Node) {
	if s := &r.symbols[i]; s.Doc == "" && (s.Kind == Field || s.Kind == Member || s.Kind == Property || s.Kind == Const || s.Kind == Macro) {
		s.Doc = sentence(comment.Text(r.src))
		s.end = max(s.end, comment.End())
		r.docAt[comment.Start()] = true
	}
}

// add adds a symbol and returns its index. Its signature ends at end.
func (r *reader) add(kind Kind, name string, n syntax.Node, l leadingNodes, end int) int {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		name = strings.Join(strings.Fields(name), " ")
	}
	name = clip(name, 200)
	if name == "" {
		name = "(anonymous)"
	}
	s := draft{start: min(l.start, n.Start()), end: n.End()}
	s.Kind = kind
	s.Name = name
	s.Qualified = name
	s.Exported = r.public
	s.Depth = r.depth
	if r.owner != "" {
		s.Qualified = r.owner + "." + name
	}
	s.ranges = []span{{start: n.Start(), end: end}}
	s.without = attributes(n, nil)
	s.Doc = r.docOf(l.comments)
	r.symbols = append(r.symbols, s)
	return len(r.symbols) - 1
}

// attributes returns the ranges of a declaration's attributes and annotations. They are not part of the
// signature. A Python decorator is not an attribute.
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

// docOf returns the first sentence of a declaration's comments, and marks them as documentation.
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

// withinSymbol calls walk with symbol i as the owner.
func (r *reader) withinSymbol(i int, walk func()) {
	s := &r.symbols[i]
	if s.Depth+1 >= MaxDepth {
		return
	}
	owner := r.owner
	depth := r.depth
	public := r.public
	r.owner = s.Qualified
	r.depth = s.Depth + 1
	r.public = s.Exported
	walk()
	r.owner = owner
	r.depth = depth
	r.public = public
}

// withExported calls add for symbols that are exported only if public is true.
func (r *reader) withExported(public bool, add func()) {
	was := r.public
	r.public = was && public
	add()
	r.public = was
}

// signatureEnd returns where the signature of n ends: at the first child with one of the names as its field
// or type, or at the end of n.
func signatureEnd(n syntax.Node, names ...string) int {
	var few [16]syntax.Node
	for _, c := range n.AppendChildren(few[:0]) {
		if slices.Contains(names, c.Field()) || slices.Contains(names, c.Type()) {
			return c.Start()
		}
	}
	return n.End()
}

// declarators adds the variables in a list that belongs to the declaration n. Each signature begins with the part of n
// before the first variable, and ends at the first child of the variable with one of the names.
func (r *reader) declarators(n, list syntax.Node, l leadingNodes, kind Kind, public bool, names ...string) {
	first := -1
	for _, d := range list.Children() {
		if d.Type() != "variable_declarator" {
			continue
		}
		if first < 0 {
			first = d.Start()
		}
		end := signatureEnd(d, names...)
		name := d.Child("name")
		if name.IsZero() {
			name = d.First("identifier")
		}
		r.withExported(public, func() {
			i := r.add(kind, r.text(name), n, l, end)
			r.symbols[i].ranges = []span{{start: n.Start(), end: first}, {start: d.Start(), end: end}}
		})
	}
}

// name returns the text of a node's name field.
func (r *reader) name(n syntax.Node) string { return n.Child("name").Text(r.src) }

func (r *reader) text(n syntax.Node) string { return n.Text(r.src) }

// readFileDoc takes the file's documentation from its first comment that is not a licence or a directive and
// does not document a declaration.
func (r *reader) readFileDoc(nodes []syntax.Node) {
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
		attached := false
		if j < len(nodes) && r.adjacent(nodes[j-1], nodes[j]) {
			next := nodes[j].Type()
			// A line comment above the imports documents the imports.
			attached = declares(next) || imports(next) && !strings.HasPrefix(r.text(nodes[i]), "/**")
		}
		if len(group) > 0 && !attached && !isLicence(group, r.src) {
			r.doc = r.docOf(group)
			r.headEnd = nodes[j-1].End()
		}
		i = j
	}
}

// declares reports whether a comment directly above a node of this type documents it.
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
		if strings.HasPrefix(t, "/**") { // a tag mentions the licence; the text may be documentation
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
