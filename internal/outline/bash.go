package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// bash walks a shell script.
func (r *reader) bash(root syntax.Node) {
	children := root.Children()
	r.headDoc(children)
	r.bashStatements(children)
}

// bashStatements walks statements, those in blocks and under conditions too: a
// function is declared wherever its definition runs.
func (r *reader) bashStatements(nodes []syntax.Node) {
	r.each(nodes, func(n syntax.Node, l lead) {
		switch n.Type() {
		case "function_definition":
			r.exporting(isPublicName(r.name(n)), func() {
				i := r.add(Func, r.name(n), n, l, upTo(n, "body"))
				if r.symbols[i].Doc == "" {
					r.symbols[i].Doc = r.bashDoc(n.Child("body"))
				}
			})
		case "variable_assignment":
			r.bashVariable(n, n, l, false)
		case "declaration_command":
			exported := strings.HasPrefix(r.text(n), "export")
			for _, c := range n.Children() {
				if c.Type() == "variable_assignment" {
					r.bashVariable(c, n, l, exported)
				}
			}
		case "command":
			if name := r.text(n.Child("name")); name == "source" || name == "." {
				r.importing(unquote(r.text(n.Child("argument"))))
			}
		case "compound_statement", "if_statement", "list", "else_clause", "elif_clause", "redirected_statement", "subshell":
			r.bashStatements(n.Children())
		}
	})
}

// bashDoc takes a comment that opens a function's body for its own.
func (r *reader) bashDoc(body syntax.Node) string {
	var comments []syntax.Node
	for _, c := range body.Children() {
		switch {
		case isComment(c.Type()):
			comments = append(comments, c)
		case c.Named():
			return r.docOf(comments)
		}
	}
	return ""
}

// bashVariable adds what a script sets for others to see: those in capitals.
func (r *reader) bashVariable(n, whole syntax.Node, l lead, exported bool) {
	name := r.name(n)
	if strings.ToUpper(name) != name || strings.ToLower(name) == name {
		return
	}
	if _, again := r.known[name]; again {
		return
	}
	r.exporting(exported, func() { r.known[name] = r.add(Var, name, whole, l, n.Child("name").End()) })
}
