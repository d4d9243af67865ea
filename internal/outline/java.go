package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// java walks a compilation unit.
func (r *reader) java(root syntax.Node) {
	children := root.Children()
	for i, c := range children {
		switch c.Type() {
		case "package_declaration":
			r.pkg = r.text(c.First("scoped_identifier", "identifier"))
			if i > 0 && isComment(children[i-1].Type()) && !isLicence(children[i-1:i], r.src) {
				r.doc = r.docOf(children[i-1 : i])
			}
		case "import_declaration":
			name := r.text(c.First("scoped_identifier", "identifier"))
			if !c.First("asterisk").IsZero() {
				name += ".*"
			}
			r.addImport(name)
		}
	}
	r.javaMembers(children, "")
}

// javaMembers walks the members of a type of the given kind, which is "" at the top level.
func (r *reader) javaMembers(nodes []syntax.Node, of Kind) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		modifiers := " " + strings.Join(strings.Fields(r.text(n.First("modifiers"))), " ") + " "
		public := of == Interface && !strings.Contains(modifiers, " private ") || of == Member ||
			strings.Contains(modifiers, " public ") || strings.Contains(modifiers, " protected ")
		typ := func(kind Kind) {
			r.withExported(public, func() {
				i := r.add(kind, r.name(n), n, l, signatureEnd(n, "body"))
				r.withinSymbol(i, func() { r.javaMembers(n.Child("body").Children(), kind) })
			})
		}
		switch n.Type() {
		case "class_declaration":
			typ(Class)
		case "record_declaration":
			typ(Struct)
		case "interface_declaration", "annotation_type_declaration":
			typ(Interface)
		case "enum_declaration":
			typ(Enum)
		case "enum_body_declarations":
			r.javaMembers(n.Children(), Class)
		case "enum_constant":
			r.add(Member, r.name(n), n, l, signatureEnd(n, "body"))
		case "method_declaration", "constructor_declaration", "compact_constructor_declaration", "annotation_type_element_declaration":
			r.withExported(public, func() { r.add(Method, r.name(n), n, l, signatureEnd(n, "body")) })
		case "field_declaration", "constant_declaration":
			kind := Field
			if n.Type() == "constant_declaration" || strings.Contains(modifiers, " static ") && strings.Contains(modifiers, " final ") {
				kind = Const
			}
			r.declarators(n, n, l, kind, public, "value", "=")
		}
	})
}
