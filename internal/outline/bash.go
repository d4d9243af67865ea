package outline

import (
	"strings"

	"ken/internal/outline/syntax"
)

// bash walks a shell script.
func (r *reader) bash(root syntax.Node) {
	children := root.Children()
	r.readFileDoc(children)
	r.bashStatements(children)
}

// bashStatements walks statements, including nested ones: a function definition in a block or a condition is
// a declaration, too.
func (r *reader) bashStatements(nodes []syntax.Node) {
	r.eachDeclaration(nodes, func(n syntax.Node, l leadingNodes) {
		switch n.Type() {
		case "function_definition":
			r.withExported(isPublicName(r.name(n)), func() {
				i := r.add(Func, r.name(n), n, l, signatureEnd(n, "body"))
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
				r.addImport(unquote(r.text(n.Child("argument"))))
			}
		case "compound_statement", "if_statement", "list", "else_clause", "elif_clause", "redirected_statement", "subshell":
			r.bashStatements(n.Children())
		}
	})
}

// bashDoc returns the documentation in the first comment of a function's body.
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

// bashVariable adds an upper-case variable.
func (r *reader) bashVariable(n, whole syntax.Node, l leadingNodes, exported bool) {
	name := r.name(n)
	if strings.ToUpper(name) != name || strings.ToLower(name) == name {
		return
	}
	if _, again := r.known[name]; again {
		return
	}
	r.withExported(exported, func() { r.known[name] = r.add(Var, name, whole, l, n.Child("name").End()) })
}
