package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// ruby walks a file.
func (r *reader) ruby(root syntax.Node) {
	children := root.Children()
	r.readFileDoc(children)
	r.rubyBody(children)
}

// rubyBody walks the statements of a file, class or module. Methods after a bare private are private.
func (r *reader) rubyBody(nodes []syntax.Node) {
	public := r.public
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		switch n.Type() {
		case "identifier":
			switch r.text(n) {
			case "private", "protected":
				r.public = false
			case "public":
				r.public = public
			}
		case "body_statement", "begin", "if", "unless", "then", "else":
			// A comment at the start of the body is before the body in the tree.
			r.rubyBody(append(l.comments, n.Children()...))
		case "class", "module":
			kind := Class
			if n.Type() == "module" {
				kind = Module
			}
			visible := r.public
			r.public = public // private applies to methods only
			i := r.add(kind, plainName(r.name(n)), n, l, r.rubyHead(n))
			r.withinSymbol(i, func() { r.inside(kind == Class, func() { r.rubyBody(n.Children()) }) })
			r.public = visible
		case "singleton_class":
			visible := r.public
			r.public = public
			r.rubyBody(n.Children())
			r.public = visible
		case "method", "singleton_method":
			r.rubyMethod(n, n, l, public)
		case "assignment":
			if left := n.Child("left"); left.Type() == "constant" {
				r.add(Const, r.text(left), n, l, left.End())
			}
		case "call":
			r.rubyCall(n, l, public)
		}
	})
	r.public = public
}

// rubyHead returns the end of a class header.
func (r *reader) rubyHead(n syntax.Node) int {
	end := n.Child("name").End()
	if s := n.Child("superclass"); !s.IsZero() {
		end = s.End()
	}
	return end
}

func (r *reader) rubyMethod(n, whole syntax.Node, l leadingNodes, public bool) {
	kind := Method
	if r.owner == "" {
		kind = Func
	}
	end := n.Child("name").End()
	if p := n.Child("parameters"); !p.IsZero() {
		end = p.End()
	}
	was := r.public
	if n.Type() == "singleton_method" { // private applies to instance methods only
		r.public = public
	}
	i := r.add(kind, r.name(n), whole, l, end)
	r.known[r.symbols[i].Qualified] = i
	r.public = was
}

// rubyCall handles calls that declare something.
func (r *reader) rubyCall(n syntax.Node, l leadingNodes, public bool) {
	method := r.text(n.Child("method"))
	args := n.Child("arguments").Children()
	switch method {
	case "require", "require_relative", "load", "autoload":
		for _, a := range args {
			if a.Type() == "string" {
				r.addImport(unquote(r.text(a)))
			}
		}
	case "attr_reader", "attr_writer", "attr_accessor":
		for _, a := range args {
			if name := strings.TrimPrefix(r.text(a), ":"); a.Type() == "simple_symbol" {
				i := r.add(Property, name, n, l, n.Child("method").End())
				r.symbols[i].ranges = append(r.symbols[i].ranges, span{start: a.Start(), end: a.End()})
			}
		}
	case "private", "protected", "public", "module_function", "private_class_method", "public_class_method":
		for _, a := range args {
			switch a.Type() {
			case "method", "singleton_method":
				was := r.public
				r.public = public && method != "private" && method != "protected" && method != "private_class_method"
				r.rubyMethod(a, n, l, r.public)
				r.public = was
			case "simple_symbol":
				if i, ok := r.known[join(r.owner, strings.TrimPrefix(r.text(a), ":"))]; ok {
					r.symbols[i].Exported = public && !strings.HasPrefix(method, "pr")
				}
			}
		}
	case "define_method":
		for _, a := range args {
			if a.Type() == "simple_symbol" {
				r.add(Method, strings.TrimPrefix(r.text(a), ":"), n, l, n.Child("arguments").End())
			}
		}
	}
}
