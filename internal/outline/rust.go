package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// rust walks a file of a crate.
func (r *reader) rust(root syntax.Node) {
	children := root.Children()
	var inner []syntax.Node
	for _, c := range children {
		if t := r.text(c); isComment(c.Type()) && (strings.HasPrefix(t, "//!") || strings.HasPrefix(t, "/*!")) {
			inner = append(inner, c)
		} else if len(inner) > 0 {
			break
		}
	}
	if r.doc = r.docOf(inner); r.doc == "" {
		r.readFileDoc(children)
	}
	r.rustItems(children, false)
}

// rustItems walks items. The items of a trait are exported if the trait is.
func (r *reader) rustItems(nodes []syntax.Node, trait bool) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		vis := n.First("visibility_modifier")
		public := trait || r.text(vis) == "pub"
		name := r.name(n)
		plain := func(kind Kind, end int) { r.withExported(public, func() { r.add(kind, name, n, l, end) }) }
		switch n.Type() {
		case "use_declaration":
			r.addImport(strings.Join(strings.Fields(r.text(n.Child("argument"))), " "))
		case "extern_crate_declaration":
			r.addImport(name)
		case "function_item", "function_signature_item":
			kind := Func
			if r.owner != "" && r.inType {
				kind = Method
			}
			plain(kind, signatureEnd(n, "body"))
		case "const_item":
			plain(Const, n.End())
		case "static_item":
			plain(Var, signatureEnd(n, "value"))
		case "type_item", "associated_type":
			plain(Type, n.End())
		case "macro_definition":
			public = strings.Contains(string(r.src[l.start:n.Start()]), "macro_export")
			plain(Macro, n.Child("name").End())
		case "struct_item", "union_item", "enum_item":
			kind := Struct
			switch n.Type() {
			case "union_item":
				kind = Union
			case "enum_item":
				kind = Enum
			}
			body := n.Child("body")
			end := n.End()
			if !body.IsZero() && body.Type() != "ordered_field_declaration_list" {
				end = body.Start()
			}
			r.withExported(public, func() {
				i := r.add(kind, name, n, l, end)
				r.withinSymbol(i, func() { r.rustFields(body) })
			})
		case "trait_item":
			r.withExported(public, func() {
				i := r.add(Trait, name, n, l, signatureEnd(n, "body"))
				r.withinSymbol(i, func() { r.inside(true, func() { r.rustItems(n.Child("body").Children(), true) }) })
			})
		case "mod_item":
			body := n.Child("body")
			if body.IsZero() { // the module has its own file
				plain(Module, n.End())
				return
			}
			r.withExported(public, func() {
				i := r.add(Module, name, n, l, body.Start())
				r.withinSymbol(i, func() { r.inside(false, func() { r.rustItems(body.Children(), false) }) })
			})
		case "foreign_mod_item":
			r.rustItems(n.Child("body").Children(), false)
		case "impl_item":
			r.rustImpl(n, l)
		}
	})
}

func (r *reader) rustFields(body syntax.Node) {
	r.eachDeclaration(body.Children(), func(n syntax.Node, l leadingNodes) {
		switch n.Type() {
		case "field_declaration":
			public := r.text(n.First("visibility_modifier")) == "pub"
			r.withExported(public, func() { r.add(Field, r.name(n), n, l, n.End()) })
		case "enum_variant":
			r.add(Member, r.name(n), n, l, n.End())
		}
	})
}

// rustImpl walks an implementation. The members of an inherent implementation belong to the type. The
// implementation of a trait is a symbol of its own.
func (r *reader) rustImpl(n syntax.Node, l leadingNodes) {
	typ := r.text(n.Child("type"))
	if i := strings.IndexAny(typ, "<"); i > 0 {
		typ = typ[:i]
	}
	typ = plainName(typ[strings.LastIndexByte(typ, ':')+1:])
	body := n.Child("body").Children()
	trait := n.Child("trait")
	owner, public := r.owner, r.public
	if trait.IsZero() {
		r.owner = join(owner, typ)
		r.inside(true, func() { r.rustItems(body, false) })
		r.owner, r.public = owner, public
		return
	}
	i := r.add(Impl, r.text(trait)+" for "+typ, n, l, signatureEnd(n, "body"))
	r.withinSymbol(i, func() {
		r.owner = join(owner, typ)
		r.inside(true, func() { r.rustItems(body, true) })
	})
}

func join(owner, name string) string {
	if owner == "" {
		return name
	}
	return owner + "." + name
}

// inside calls walk with inType set to typ.
func (r *reader) inside(typ bool, walk func()) {
	was := r.inType
	r.inType = typ
	walk()
	r.inType = was
}
