package outline

import (
	"bytes"
	"strings"

	"ken/internal/outline/syntax"
)

// c walks C and C++.
func (r *reader) c(root syntax.Node) {
	children := root.Children()
	r.readFileDoc(children)
	r.cDeclarations(children)
}

func (r *reader) cDeclarations(nodes []syntax.Node) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) { r.cDeclaration(n, n, l) })
}

// cDeclaration walks one declaration. whole is the declaration with its wrapper, such as a template.
func (r *reader) cDeclaration(n, whole syntax.Node, l leadingNodes) {
	switch n.Type() {
	case "preproc_include":
		r.addImport(strings.Trim(r.text(n.Child("path")), `"<>`))
	case "preproc_def":
		if v := n.Child("value"); !v.IsZero() { // otherwise the macro is for #ifdef, or an include guard
			r.add(Macro, r.name(n), n, l, n.End())
		}
	case "preproc_function_def":
		r.add(Macro, r.name(n), n, l, signatureEnd(n, "value"))
	case "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "declaration_list":
		r.cDeclarations(n.Children())
	case "linkage_specification":
		body := n.Child("body")
		if body.Type() == "declaration_list" {
			r.cDeclarations(body.Children())
		} else {
			r.cDeclaration(body, n, l)
		}
	case "namespace_definition":
		r.cNamespace(n)
	case "template_declaration":
		for _, c := range n.Children() {
			if c.Field() == "" && c.Named() && !isComment(c.Type()) {
				r.cDeclaration(c, whole, l)
			}
		}
	case "struct_specifier", "class_specifier", "union_specifier", "enum_specifier":
		r.cType(n, whole, l)
	case "function_definition":
		end := signatureEnd(n, "body", "default_method_clause", "delete_method_clause", "field_initializer_list", "try_statement")
		r.cFunction(n, whole, l, end)
	case "type_definition":
		r.cTypedef(n, l)
	case "declaration", "field_declaration":
		r.cVariables(n, whole, l)
	case "alias_declaration", "concept_definition":
		r.add(Type, r.name(n), whole, l, n.End())
	}
}

func (r *reader) cNamespace(n syntax.Node) {
	owner, public := r.owner, r.public
	name := plainName(r.name(n))
	r.owner = strings.Trim(join(owner, name), ".")
	if name == "" { // an anonymous namespace is private to its file
		r.public = false
	}
	r.cDeclarations(n.Child("body").Children())
	r.owner, r.public = owner, public
}

// cType adds a type that has a body. A type without one is only a reference.
func (r *reader) cType(n, whole syntax.Node, l leadingNodes) {
	body := n.Child("body")
	if body.IsZero() || n.Child("name").IsZero() {
		return
	}
	kind := cTypeKind(n)
	i := r.add(kind, plainName(r.name(n)), whole, l, body.Start())
	r.cMembers(i, n, kind)
}

// cTypeKind returns the kind of a type with a body.
func cTypeKind(n syntax.Node) Kind {
	switch n.Type() {
	case "struct_specifier":
		return Struct
	case "class_specifier":
		return Class
	case "union_specifier":
		return Union
	case "enum_specifier":
		return Enum
	}
	return ""
}

// cMembers walks the body of a type.
func (r *reader) cMembers(i int, n syntax.Node, kind Kind) {
	r.withinSymbol(i, func() {
		public := r.public
		hidden := kind == Class // until an access specifier
		r.public = public && !hidden
		r.inside(true, func() {
			r.eachDeclaration(n.Child("body").Children(), func(m syntax.Node, l leadingNodes) {
				switch m.Type() {
				case "access_specifier":
					r.public = public && !strings.HasPrefix(r.text(m), "private")
				case "enumerator":
					r.add(Member, r.name(m), m, l, m.End())
				case "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif":
					r.cDeclarations(m.Children())
				case "friend_declaration":
				default:
					r.cDeclaration(m, m, l)
				}
			})
		})
		r.public = public
	})
}

// cName returns the name that a declarator declares, and whether it is a function.
func (r *reader) cName(d syntax.Node) (name string, function bool) {
	for !d.IsZero() {
		switch d.Type() {
		case "identifier", "field_identifier", "type_identifier", "operator_name", "destructor_name", "operator_cast", "primitive_type":
			return strings.Join(strings.Fields(r.text(d)), ""), function
		case "qualified_identifier", "template_function", "template_method":
			name := r.text(d)
			if i := strings.IndexByte(name, '<'); i > 0 && d.Type() != "qualified_identifier" {
				name = name[:i]
			}
			return name, function
		case "function_declarator":
			function = true
			inner := d.Child("declarator")
			// A pointer to a function is a variable.
			if inner.Type() == "parenthesized_declarator" && !inner.First("pointer_declarator").IsZero() {
				function = false
				d = inner.First("pointer_declarator")
				continue
			}
			d = inner
		default:
			next := d.Child("declarator")
			if next.IsZero() {
				next = d.First(
					"function_declarator", "pointer_declarator", "array_declarator", "reference_declarator", "init_declarator",
					"identifier", "qualified_identifier", "field_identifier", "type_identifier", "operator_name",
				)
			}
			if next.IsZero() {
				return "", function
			}
			d = next
		}
	}
	return "", function
}

// addC adds a symbol whose name may be qualified, as in Type::method.
func (r *reader) addC(kind Kind, name string, n syntax.Node, l leadingNodes, end int) int {
	full := plainName(withoutArguments(name))
	if i := strings.LastIndexByte(full, '.'); i > 0 {
		owner, in := r.owner, r.inType
		r.owner = join(owner, full[:i])
		j := r.add(kind, full[i+1:], n, l, end)
		r.owner, r.inType = owner, in
		if kind == Func {
			r.symbols[j].Kind = Method
		}
		return j
	}
	return r.add(kind, full, n, l, end)
}

// withoutArguments removes template arguments from a name: Shape<T>::area becomes Shape::area. Operators
// stay unchanged.
func withoutArguments(name string) string {
	head, operator, isOperator := strings.Cut(name, "operator")
	var b strings.Builder
	depth := 0
	for _, c := range head {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	if isOperator {
		return b.String() + "operator" + operator
	}
	return b.String()
}

func (r *reader) cFunction(n, whole syntax.Node, l leadingNodes, end int) {
	name, function := r.cName(n.Child("declarator"))
	if name == "" || !function {
		return
	}
	kind := Func
	if r.inType {
		kind = Method
	}
	r.withExported(!r.isStatic(n) || r.inType, func() { r.addC(kind, name, whole, l, end) })
}

func (r *reader) isStatic(n syntax.Node) bool {
	for _, c := range n.Children() {
		if c.Type() == "storage_class_specifier" && r.text(c) == "static" {
			return true
		}
	}
	return false
}

func (r *reader) cTypedef(n syntax.Node, l leadingNodes) {
	typ := n.Child("type")
	for _, d := range n.Children() {
		if d.Field() != "declarator" {
			continue
		}
		name, _ := r.cName(d)
		if name == "" {
			continue
		}
		body := typ.Child("body")
		if body.IsZero() {
			r.add(Type, name, n, l, n.End())
			continue
		}
		kind := cTypeKind(typ)
		i := r.add(kind, name, n, l, body.Start())
		r.symbols[i].ranges = []span{{start: n.Start(), end: body.Start()}, {start: d.Start(), end: d.End()}}
		r.cMembers(i, typ, kind)
		typ = syntax.Node{} // its members are listed once
	}
}

// cVariables adds the symbols of a declaration: functions, variables, fields, and a type that it defines.
func (r *reader) cVariables(n, whole syntax.Node, l leadingNodes) {
	typ := n.Child("type")
	static := r.isStatic(n) && !r.inType
	// If the declaration defines a type, the body of the type is not part of the other signatures.
	until := typ.Start()
	if body := typ.Child("body"); !body.IsZero() {
		r.cType(typ, whole, l)
		until = body.Start()
	} else if !typ.IsZero() {
		until = typ.End()
	}
	for _, d := range n.Children() {
		if d.Field() != "declarator" {
			continue
		}
		name, function := r.cName(d)
		if name == "" {
			continue
		}
		kind := Var
		switch {
		case function && r.inType:
			kind = Method
		case function:
			kind = Func
		case r.inType:
			kind = Field
		case bytes.Contains(r.src[n.Start():d.Start()], []byte("const ")) && !bytes.Contains(r.src[d.Start():d.End()], []byte("*")):
			kind = Const
		}
		if n.Broken() && kind == Var { // possibly a macro that looks like a variable
			continue
		}
		end := d.End()
		if d.Type() == "init_declarator" {
			end = signatureEnd(d, "value")
		}
		r.withExported(!static, func() {
			i := r.addC(kind, name, whole, l, end)
			r.symbols[i].ranges = []span{{start: whole.Start(), end: max(until, whole.Start())}, {start: max(until, d.Start()), end: end}}
			if d.Start() < until || typ.IsZero() {
				r.symbols[i].ranges = []span{{start: whole.Start(), end: end}}
			}
		})
	}
}
