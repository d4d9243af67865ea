package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// script walks JavaScript and TypeScript.
func (r *reader) script(root syntax.Node) {
	children := root.Children()
	r.readFileDoc(children)
	exported := make(map[string]bool) // by an export clause elsewhere in the file
	r.scriptBlock(children, false, exported)
	for i := range r.symbols {
		if s := &r.symbols[i]; exported[s.Name] && s.Depth == 0 && !s.Exported {
			r.publish(i)
		}
	}
}

// publish marks a symbol and its members as exported, except hidden ones.
func (r *reader) publish(i int) {
	depth := r.symbols[i].Depth
	r.symbols[i].Exported = true
	for j := i + 1; j < len(r.symbols) && r.symbols[j].Depth > depth; j++ {
		r.symbols[j].Exported = !r.symbols[j].hidden
	}
}

// scriptBlock walks statements. A declaration that is not exported is private to its module, except in an
// ambient namespace or a declaration file.
func (r *reader) scriptBlock(nodes []syntax.Node, ambient bool, exported map[string]bool) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) { r.scriptStatement(n, n, l, ambient, exported) })
}

func (r *reader) scriptStatement(n, whole syntax.Node, l leadingNodes, public bool, exported map[string]bool) {
	switch n.Type() {
	case "import_statement":
		r.addImport(unquote(r.text(n.Child("source"))))
	case "export_statement":
		r.scriptExport(n, l, exported)
	case "ambient_declaration":
		for _, c := range n.Children() {
			if c.Named() && !isComment(c.Type()) {
				r.scriptStatement(c, n, l, public, exported)
			}
		}
	case "function_declaration", "generator_function_declaration", "function_signature":
		r.withExported(public, func() { r.add(Func, r.name(n), whole, l, signatureEnd(n, "body")) })
	case "import_alias": // import a = b.c
		r.withExported(public, func() { r.add(Var, r.text(n.First("identifier")), whole, l, n.End()) })
	case "class_declaration", "abstract_class_declaration", "class":
		r.withExported(public, func() { r.scriptClass(r.name(n), n, whole, l) })
	case "interface_declaration":
		r.withExported(public, func() {
			i := r.add(Interface, r.name(n), whole, l, signatureEnd(n, "body"))
			r.withinSymbol(i, func() { r.scriptMembers(n.Child("body")) })
		})
	case "type_alias_declaration":
		r.withExported(public, func() {
			value := n.Child("value")
			if value.Type() != "object_type" {
				r.add(Type, r.name(n), whole, l, n.End())
				return
			}
			i := r.add(Type, r.name(n), whole, l, value.Start())
			r.withinSymbol(i, func() { r.scriptMembers(value) })
		})
	case "enum_declaration":
		r.withExported(public, func() {
			i := r.add(Enum, r.name(n), whole, l, signatureEnd(n, "body"))
			r.withinSymbol(i, func() {
				r.eachDeclaration(n.Child("body").Children(), func(m syntax.Node, l leadingNodes) {
					switch m.Type() {
					case "enum_assignment":
						r.add(Member, r.name(m), m, l, m.End())
					case "property_identifier", "string":
						r.add(Member, unquote(r.text(m)), m, l, m.End())
					}
				})
			})
		})
	case "module", "internal_module":
		r.withExported(public, func() {
			i := r.add(Module, unquote(r.name(n)), whole, l, signatureEnd(n, "body"))
			r.withinSymbol(i, func() { r.scriptBlock(n.Child("body").Children(), false, exported) })
		})
	case "lexical_declaration", "variable_declaration":
		for _, d := range n.Children() {
			if d.Type() == "variable_declarator" {
				r.withExported(public, func() { r.scriptVariable(n, d, whole, l) })
				l = leadingNodes{start: d.Start()}
			}
		}
	case "expression_statement":
		r.scriptExpression(n, l, exported)
	case "if_statement", "statement_block", "else_clause":
		// This is a block at module level. Function bodies are not walked.
		r.scriptBlock(n.Children(), public, exported)
	}
}

func (r *reader) scriptExport(n syntax.Node, l leadingNodes, exported map[string]bool) {
	if source := n.Child("source"); !source.IsZero() {
		r.addImport(unquote(r.text(source)))
	}
	if d := n.Child("declaration"); !d.IsZero() {
		r.scriptStatement(d, n, l, true, exported)
		return
	}
	if v := n.Child("value"); !v.IsZero() { // export default
		switch v.Type() {
		case "identifier":
			exported[r.text(v)] = true
		case "class":
			r.scriptClass("default", v, n, l)
		default:
			kind, end := Func, signatureEnd(v, "body")
			if !isFunctionValue(v) {
				kind, end = Var, v.End()
				if v.End()-v.Start() > 80 {
					end = v.Start()
				}
			}
			r.add(kind, "default", n, l, end)
		}
		return
	}
	for _, spec := range n.First("export_clause").Children() {
		if spec.Type() == "export_specifier" {
			exported[r.name(spec)] = true
		}
	}
}

func (r *reader) scriptClass(name string, n, whole syntax.Node, l leadingNodes) {
	i := r.add(Class, name, whole, l, signatureEnd(n, "body"))
	r.withinSymbol(i, func() { r.scriptMembers(n.Child("body")) })
}

func (r *reader) scriptMembers(body syntax.Node) {
	r.eachDeclaration(body.Children(), func(m syntax.Node, l leadingNodes) {
		name := r.name(m)
		kind := Field
		end := m.End()
		switch m.Type() {
		case "method_definition", "method_signature", "abstract_method_signature":
			kind, end = Method, signatureEnd(m, "body")
		case "call_signature", "construct_signature":
			kind, name = Method, "("+strings.TrimSuffix(m.Type(), "_signature")+")"
		case "property_signature", "index_signature":
			if name == "" {
				name = "[]"
			}
		case "field_definition", "public_field_definition":
			if name == "" {
				name = r.text(m.Child("property"))
			}
			v := m.Child("value")
			switch {
			case v.IsZero():
			case isFunctionValue(v):
				kind, end = Method, signatureEnd(v, "body")
			default:
				end = v.Start()
			}
		default:
			return
		}
		access := r.text(m.First("accessibility_modifier"))
		hidden := strings.HasPrefix(name, "#") || access == "private" || access == "protected"
		r.withExported(!hidden, func() {
			i := r.add(kind, unquote(name), m, l, end)
			r.symbols[i].hidden = hidden
		})
	})
}

func isFunctionValue(n syntax.Node) bool {
	switch n.Type() {
	case "arrow_function", "function_expression", "generator_function", "function":
		return true
	}
	return false
}

// required returns the module of a require call, as in require("name").part or require("name")(options), or
// "" if value is no such call.
func (r *reader) required(value syntax.Node) string {
	for {
		switch value.Type() {
		case "member_expression":
			value = value.Child("object")
			continue
		case "call_expression":
			f := value.Child("function")
			if f.Type() == "identifier" && r.text(f) == "require" {
				return unquote(strings.Trim(r.text(value.Child("arguments")), "()"))
			}
			value = f
			continue
		}
		return ""
	}
}

// scriptVariable adds a variable, or the function or class that is its value.
func (r *reader) scriptVariable(decl, d, whole syntax.Node, l leadingNodes) {
	name, value := d.Child("name"), d.Child("value")
	switch {
	case r.required(value) != "":
		r.addImport(r.required(value))
		return
	case name.Type() != "identifier":
		return
	case isFunctionValue(value):
		r.add(Func, r.text(name), whole, l, signatureEnd(value, "body"))
		return
	case value.Type() == "class":
		r.scriptClass(r.text(name), value, whole, l)
		return
	}
	kind := Var
	if decl.Child("kind").Type() == "const" {
		kind = Const
	}
	end := d.End()
	if !value.IsZero() {
		end = value.Start()
	}
	i := r.add(kind, r.text(name), whole, l, end)
	if d.Start() > r.symbols[i].start { // not the first of several
		s := &r.symbols[i]
		keyword := decl.Children()[0]
		s.ranges = []span{{start: keyword.Start(), end: keyword.End()}, {start: d.Start(), end: end}}
		if whole.Type() == "export_statement" || whole.Type() == "ambient_declaration" {
			s.ranges[0].start = whole.Start()
		}
	}
}

// scriptExpression handles modules without import and export: exports.name = function, Type.prototype.name =
// function, require(name).
func (r *reader) scriptExpression(n syntax.Node, l leadingNodes, exported map[string]bool) {
	a := n.First("assignment_expression")
	if a.IsZero() {
		r.addImport(r.required(n.First("call_expression")))
		return
	}
	left, value := r.text(a.Child("left")), a.Child("right")
	for value.Type() == "assignment_expression" { // exports = module.exports = createApplication
		if inner := r.text(value.Child("left")); inner == "module.exports" {
			left = inner
		}
		value = value.Child("right")
	}
	if left == "module.exports" || left == "exports" {
		switch {
		case value.Type() == "identifier":
			exported[r.text(value)] = true
		case value.Type() == "object":
			for _, p := range value.Children() {
				switch p.Type() {
				case "shorthand_property_identifier":
					exported[r.text(p)] = true
				case "pair":
					if v := p.Child("value"); v.Type() == "identifier" {
						exported[r.text(v)] = true
					}
				}
			}
		case isFunctionValue(value):
			r.add(Func, "module.exports", n, l, signatureEnd(value, "body"))
		case value.Type() == "class":
			r.scriptClass("module.exports", value, n, l)
		}
		return
	}
	if a.Child("left").Type() != "member_expression" || strings.ContainsAny(left, "()[]\n") {
		return
	}
	name := strings.TrimPrefix(strings.TrimPrefix(left, "module."), "exports.")
	public := name != left
	if owner, method, ok := strings.Cut(name, ".prototype."); ok {
		name = owner + "." + method
	}
	kind, end := Var, a.Child("right").Start()
	switch {
	case isFunctionValue(value):
		kind, end = Func, signatureEnd(value, "body")
		if strings.Contains(name, ".") {
			kind = Method
		}
	case !public:
		return
	}
	r.withExported(public || kind == Method, func() {
		owner := r.owner
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			r.owner, name = join(owner, name[:dot]), name[dot+1:]
		}
		r.add(kind, name, n, l, end)
		r.owner = owner
	})
}

func unquote(s string) string { return strings.Trim(strings.TrimSpace(s), "\"'`") }
