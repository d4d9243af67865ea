package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// csharp walks a compilation unit.
func (r *reader) csharp(root syntax.Node) {
	children := root.Children()
	r.readFileDoc(children)
	r.csharpMembers(children, "")
}

// csharpMembers walks the members of a type of the given kind, which is "" at the top level.
func (r *reader) csharpMembers(nodes []syntax.Node, of Kind) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		public, constant := of == Interface || of == Enum, false
		for _, c := range n.Children() {
			if c.Type() != "modifier" {
				continue
			}
			switch r.text(c) {
			case "public", "protected":
				public = true
			case "private", "internal", "file":
				public = false
			case "const":
				constant = true
			}
		}
		typ := func(kind Kind) {
			r.withExported(public, func() {
				i := r.add(kind, r.name(n), n, l, signatureEnd(n, "body", "declaration_list", "enum_member_declaration_list", ";"))
				body := n.Child("body")
				if body.IsZero() {
					body = n.First("declaration_list", "enum_member_declaration_list")
				}
				r.withinSymbol(i, func() { r.csharpMembers(body.Children(), kind) })
			})
		}
		member := func(kind Kind, name string, cut ...string) {
			r.withExported(public, func() { r.add(kind, name, n, l, signatureEnd(n, cut...)) })
		}
		switch n.Type() {
		case "using_directive":
			r.addImport(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(r.text(n), "global "), "using "), ";"))
		case "namespace_declaration", "file_scoped_namespace_declaration":
			if r.pkg == "" {
				r.pkg = r.text(n.Child("name"))
			}
			body := n.Child("body")
			if body.IsZero() {
				r.csharpMembers(n.Children(), of)
			} else {
				r.csharpMembers(body.Children(), of)
			}
		case "preproc_if", "preproc_elif", "preproc_else", "declaration_list", "preproc_region":
			r.csharpMembers(n.Children(), of)
		case "class_declaration":
			typ(Class)
		case "struct_declaration", "record_struct_declaration":
			typ(Struct)
		case "record_declaration":
			typ(Class)
		case "interface_declaration":
			typ(Interface)
		case "enum_declaration":
			typ(Enum)
		case "enum_member_declaration":
			r.add(Member, r.name(n), n, l, n.End())
		case "delegate_declaration":
			member(Type, r.name(n))
		case "method_declaration", "constructor_declaration", "local_function_statement":
			member(Method, r.name(n), "body", "block", "arrow_expression_clause", ";")
		case "destructor_declaration":
			member(Method, "~"+r.name(n), "body", "block", "arrow_expression_clause", ";")
		case "operator_declaration", "conversion_operator_declaration":
			member(Method, "operator "+r.text(n.Child("operator"))+r.conversion(n), "body", "block", "arrow_expression_clause", ";")
		case "property_declaration":
			member(Property, r.name(n), "value", "arrow_expression_clause", "=")
		case "indexer_declaration":
			member(Property, "this[]", "value", "arrow_expression_clause")
		case "event_declaration":
			member(Property, r.name(n), "accessors", "accessor_list")
		case "event_field_declaration", "field_declaration":
			list := n.First("variable_declaration")
			if constant {
				r.declarators(n, list, l, Const, public) // the value belongs to the signature
			} else {
				r.declarators(n, list, l, Field, public, "=", "equals_value_clause")
			}
		}
	})
}

// conversion returns the target type of a conversion operator.
func (r *reader) conversion(n syntax.Node) string {
	if n.Type() == "conversion_operator_declaration" {
		return r.text(n.Child("type"))
	}
	return ""
}
