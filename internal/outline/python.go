package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// python walks a module.
func (r *reader) python(root syntax.Node) {
	children := root.Children()
	r.doc = r.docstring(children)
	if r.doc == "" {
		r.readFileDoc(children)
	}
	r.pythonBlock(children, false)
}

// docstring returns the first sentence of the string at the start of a block.
func (r *reader) docstring(nodes []syntax.Node) string {
	for _, n := range nodes {
		if isComment(n.Type()) {
			continue
		}
		s := n
		if n.Type() == "expression_statement" && len(n.Children()) == 1 {
			s = n.First("string")
		}
		if s.Type() != "string" {
			return ""
		}
		text := r.text(s)
		text = strings.TrimLeft(text, "rRuUbB")
		for _, q := range [...]string{`"""`, `'''`, `"`, `'`} {
			if strings.HasPrefix(text, q) && strings.HasSuffix(text, q) && len(text) >= 2*len(q) {
				text = text[len(q) : len(text)-len(q)]
				break
			}
		}
		return sentence(text)
	}
	return ""
}

func (r *reader) pythonBlock(nodes []syntax.Node, class bool) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) { r.pythonStatement(n, n, l, class) })
}

// pythonStatement walks one statement. whole is the statement with its decorators.
func (r *reader) pythonStatement(n, whole syntax.Node, l leadingNodes, class bool) {
	switch n.Type() {
	case "import_statement", "import_from_statement", "future_import_statement":
		r.pythonImport(n)
	case "decorated_definition":
		if def := n.Child("definition"); !def.IsZero() {
			r.pythonStatement(def, n, l, class)
		}
	case "function_definition":
		kind := Func
		if class {
			kind = Method
		}
		r.withExported(isPublicName(r.name(n)), func() {
			i := r.add(kind, r.name(n), whole, l, signatureEnd(n, "body"))
			r.pythonDoc(i, n)
		})
	case "class_definition":
		r.withExported(isPublicName(r.name(n)), func() {
			i := r.add(Class, r.name(n), whole, l, signatureEnd(n, "body"))
			r.pythonDoc(i, n)
			// A comment at the start of the body is before the body in the tree.
			var inside []syntax.Node
			for _, c := range n.Children() {
				if isComment(c.Type()) {
					inside = append(inside, c)
				}
			}
			r.withinSymbol(i, func() { r.pythonBlock(append(inside, n.Child("body").Children()...), true) })
		})
	case "type_alias_statement":
		left := n.Child("left")
		r.withExported(isPublicName(r.text(left)), func() { r.add(Type, r.text(left), whole, l, n.End()) })
	case "expression_statement":
		r.pythonAssignment(n, n.First("assignment"), l, class)
	case "assignment":
		r.pythonAssignment(n, n, l, class)
	case "if_statement", "try_statement", "with_statement", "else_clause", "elif_clause", "except_clause", "finally_clause", "block":
		// A declaration under a condition counts as well.
		r.pythonBlock(n.Children(), class)
	}
}

// pythonDoc prefers the docstring to a comment.
func (r *reader) pythonDoc(i int, def syntax.Node) {
	if doc := r.docstring(def.Child("body").Children()); doc != "" {
		r.symbols[i].Doc = doc
	}
}

func (r *reader) pythonAssignment(n, a syntax.Node, l leadingNodes, class bool) {
	left := a.Child("left")
	if left.Type() != "identifier" {
		return
	}
	name := r.text(left)
	kind := Var
	switch {
	case class:
		kind = Field
	case strings.ToUpper(name) == name && strings.ToLower(name) != name:
		kind = Const
	}
	end := left.End()
	if t := a.Child("type"); !t.IsZero() {
		end = t.End()
	}
	r.withExported(isPublicName(name), func() { r.add(kind, name, n, l, end) })
}

func (r *reader) pythonImport(n syntax.Node) {
	if m := n.Child("module_name"); !m.IsZero() {
		r.addImport(r.text(m))
		return
	}
	if n.Type() == "future_import_statement" {
		r.addImport("__future__")
		return
	}
	for _, c := range n.Children() {
		switch c.Type() {
		case "dotted_name":
			r.addImport(r.text(c))
		case "aliased_import":
			r.addImport(r.name(c))
		}
	}
}

// isPublicName reports whether a name is public by convention.
func isPublicName(name string) bool {
	return !strings.HasPrefix(name, "_") || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}
