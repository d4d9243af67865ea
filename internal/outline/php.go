package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// php walks a file.
func (r *reader) php(root syntax.Node) {
	children := root.Children()
	r.readFileDoc(children)
	r.phpStatements(children)
}

func (r *reader) phpStatements(nodes []syntax.Node) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		typ := func(kind Kind) {
			i := r.add(kind, r.name(n), n, l, signatureEnd(n, "body"))
			r.withinSymbol(i, func() { r.phpMembers(n.Child("body").Children()) })
		}
		switch n.Type() {
		case "namespace_definition":
			if r.pkg == "" {
				r.pkg = r.name(n)
			}
			if body := n.Child("body"); !body.IsZero() {
				r.phpStatements(body.Children())
			}
		case "namespace_use_declaration":
			for _, c := range n.Children() {
				switch c.Type() {
				case "namespace_use_clause":
					r.addImport(r.text(c.First("qualified_name", "name")))
				case "namespace_use_group":
					prefix := r.text(n.First("namespace_name"))
					for _, g := range c.Children() {
						if g.Named() {
							r.addImport(prefix + `\` + r.text(g))
						}
					}
				}
			}
		case "class_declaration":
			typ(Class)
		case "interface_declaration":
			typ(Interface)
		case "trait_declaration":
			typ(Trait)
		case "enum_declaration":
			typ(Enum)
		case "function_definition":
			r.add(Func, r.name(n), n, l, signatureEnd(n, "body"))
		case "const_declaration":
			r.phpConsts(n, l, true)
		case "if_statement", "compound_statement", "else_clause", "colon_block":
			r.phpStatements(n.Children())
		case "expression_statement":
			for _, c := range n.Children() {
				if strings.HasPrefix(c.Type(), "require") || strings.HasPrefix(c.Type(), "include") {
					r.addImport(strings.TrimSuffix(strings.Join(strings.Fields(r.text(c))[1:], " "), ";"))
				}
			}
		}
	})
}

func (r *reader) phpConsts(n syntax.Node, l leadingNodes, public bool) {
	for _, c := range n.Children() {
		if c.Type() == "const_element" {
			r.withExported(public, func() { r.add(Const, r.text(c.First("name")), n, l, n.End()) })
		}
	}
}

func (r *reader) phpMembers(nodes []syntax.Node) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		access := r.text(n.First("visibility_modifier"))
		public := access == "" || access == "public"
		switch n.Type() {
		case "method_declaration":
			r.withExported(public, func() { r.add(Method, r.name(n), n, l, signatureEnd(n, "body")) })
		case "property_declaration":
			first := -1
			for _, p := range n.Children() {
				if p.Type() != "property_element" {
					continue
				}
				if first < 0 {
					first = p.Start()
				}
				name := p.First("variable_name")
				r.withExported(public, func() {
					i := r.add(Property, strings.TrimPrefix(r.text(name), "$"), n, l, name.End())
					r.symbols[i].ranges = []span{{start: n.Start(), end: first}, {start: p.Start(), end: name.End()}}
				})
			}
		case "const_declaration":
			r.phpConsts(n, l, public)
		case "enum_case":
			r.add(Member, r.name(n), n, l, n.End())
		}
	})
}
