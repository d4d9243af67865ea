package outline

import (
	"iter"
	"slices"
	"strings"

	"ken/internal/outline/syntax"
)

// treeNames collects the references of a file from its syntax tree. Each language has its own method that
// visits a node. The other methods serve all languages.
type treeNames struct {
	*nameCollector

	nodes        []syntax.Node                           // the children of all nodes from the root to the current one
	visitNode    func(*treeNames, syntax.Node, kindCode) // of the language
	separator    string                                  // in paths
	class        pathName                                // the current class, which this or self refers to
	base         pathName                                // the class that the current one extends, if it is only one
	inBody       bool                                    // directly in the body of a class, whose names need a qualifier
	module       string                                  // the current module of Rust
	classMembers map[string]map[nameID]bool              // members that the file declares, by class
	inBodyNames  map[nameID]bool                         // in Python: names that the class body has bound so far
	globals      map[nameID]bool                         // in Python: names that the function does not bind
	required     int                                     // in Python: offset of the module name in an importing call
	exports      []exportedName
}

// An exportedName is a name in an export clause.
type exportedName struct {
	name, as string
	at       int
}

// collectTree returns the references of a file with a syntax tree.
func collectTree(f *file, root syntax.Node) *References {
	lang := grammars[f.lang]
	if lang.visit == nil {
		return &References{}
	}
	c := &treeNames{nameCollector: newNameCollector(f), nodes: f.scratch.nodes[:0], visitNode: lang.visit, separator: lang.separator}
	c.children(root)
	if len(f.markup) > 0 {
		c.markupNames()
	}
	c.reexports()
	f.scratch.nodes = c.nodes[:0]
	return c.references(lang.builtin, lang.member)
}

// visit walks a node. kind tells how the node is used.
func (t *treeNames) visit(n syntax.Node, kind kindCode) {
	if !n.Named() || !t.descend() {
		return
	}
	t.visitNode(t, n, kind)
	t.ascend()
}

// each yields the children of a node. All nodes from the root to the current one share one array for their
// children.
func (t *treeNames) each(n syntax.Node) iter.Seq2[int, syntax.Node] {
	return func(yield func(int, syntax.Node) bool) {
		from := len(t.nodes)
		t.nodes = n.AppendChildren(t.nodes)
		for i, child := range t.nodes[from:] {
			if !yield(i, child) {
				break
			}
		}
		t.nodes = t.nodes[:from]
	}
}

// children walks all children of a node.
func (t *treeNames) children(n syntax.Node) { t.childrenAs(n, mentionKind) }

func (t *treeNames) childrenAs(n syntax.Node, kind kindCode) {
	for _, child := range t.each(n) {
		t.visit(child, kind)
	}
}

// childAs walks the children of a node. kind applies to those with the given field.
func (t *treeNames) childAs(n syntax.Node, field string, kind kindCode) {
	for _, child := range t.each(n) {
		if child.Field() == field {
			t.visit(child, kind)
		} else {
			t.visit(child, mentionKind)
		}
	}
}

// firstAs walks the children of a node. kind applies to the first one.
func (t *treeNames) firstAs(n syntax.Node, kind kindCode) {
	for i, child := range t.each(n) {
		if i == 0 {
			t.visit(child, kind)
		} else {
			t.visit(child, mentionKind)
		}
	}
}

// except walks the children of a node, except those with one of the fields.
func (t *treeNames) except(n syntax.Node, fields ...string) {
	for _, child := range t.each(n) {
		if !slices.Contains(fields, child.Field()) {
			t.visit(child, mentionKind)
		}
	}
}

// scope walks all children of a node in a new scope.
func (t *treeNames) scope(n syntax.Node) { t.within(false, func() { t.children(n) }) }

// bytes returns the text of a node.
func (t *treeNames) bytes(n syntax.Node) []byte { return t.src[n.Start():n.End()] }

func (t *treeNames) text(n syntax.Node) string { return n.Text(t.src) }

// idOfNode returns the nameID of a node's text.
func (t *treeNames) idOfNode(n syntax.Node) nameID {
	if n.IsZero() {
		return 0
	}
	return t.id(t.bytes(n))
}

// mentionNode records an unqualified name.
func (t *treeNames) mentionNode(n syntax.Node, kind kindCode) {
	t.mention(t.idOfNode(n), n.Start(), kind)
}

// stepNode records a member of a path and returns the path including it.
func (t *treeNames) stepNode(before pathName, name syntax.Node, kind kindCode) pathName {
	return t.step(before, t.separator, t.bytes(name), name.Start(), kind)
}

// bindParams binds type parameters.
func (t *treeNames) bindParams(list syntax.Node) {
	for _, p := range list.Children() {
		t.bindAll(t.idOfNode(p.Child("name")), pathName{})
	}
}

// inClass walks the members of a class.
func (t *treeNames) inClass(name syntax.Node, walk func()) {
	was := t.class
	wasBase := t.base
	t.base = pathName{}
	id := t.idOfNode(name)
	switch {
	case id == 0:
		t.class = pathName{}
	case was.path == 0:
		t.class = singleName(id)
	default:
		t.class = t.join(was, t.separator, t.bytes(name))
	}
	walk()
	t.class = was
	t.base = wasBase
}

// ofValue returns the type of a value that the code names: the base class of super, or the class of a new value.
func (t *treeNames) ofValue(typ pathName) pathName {
	if t.isLocal(typ.root) {
		return pathName{}
	}
	return typ
}

// valueOf returns the path of the value of a call, and nothing for other expressions.
func (t *treeNames) valueOf(n syntax.Node) pathName {
	function := n.Child("function")
	isLocal := function.Type() == "identifier" && t.isLocal(t.idOfNode(function))
	if isLocal || n.Type() != "call" && n.Type() != "call_expression" {
		return pathName{}
	}
	return t.called(t.pathOf(function))
}

// pathOf returns the path of an expression of Python or TypeScript: names with dots, and calls.
func (t *treeNames) pathOf(n syntax.Node) pathName {
	if !t.descend() {
		return pathName{}
	}
	defer t.ascend()
	switch n.Type() {
	case "identifier":
		if name := t.text(n); name != "self" && name != "cls" || t.class.path == 0 {
			return singleName(t.idOfNode(n))
		}
		return t.class
	case "this":
		return t.class
	case "attribute":
		return t.memberPath(t.pathOf(n.Child("object")), t.separator, t.bytes(n.Child("attribute")))
	case "member_expression":
		return t.memberPath(t.pathOf(n.Child("object")), t.separator, t.bytes(n.Child("property")))
	case "call":
		return t.pythonValue(n)
	case "call_expression":
		return t.valueOf(n)
	}
	return pathName{}
}

// assigned records that the file adds a member to the current class.
func (t *treeNames) assigned(member syntax.Node) {
	if t.class.path != 0 {
		t.members[plainName(t.texts[t.class.path])+"."+t.text(member)] = true
	}
}

// bindOwn binds the members that the file declares for a class in the innermost scope.
func (t *treeNames) bindOwn(class nameID) {
	if t.classMembers == nil {
		t.classMembers = make(map[string]map[nameID]bool)
		for i := range t.symbols {
			s := &t.symbols[i]
			owner, ok := strings.CutSuffix(s.Qualified, "."+s.Name)
			if !ok {
				continue
			}
			owner = owner[strings.LastIndexByte(owner, '.')+1:]
			if t.classMembers[owner] == nil {
				t.classMembers[owner] = make(map[nameID]bool)
			}
			if owner != s.Name { // otherwise it is a constructor
				t.classMembers[owner][t.idOf(s.Name)] = true
			}
		}
	}
	t.scopes[len(t.scopes)-1].members = t.classMembers[t.texts[class]]
}

// names walks a path whose names are the children of a node, or of a nested node of the same type.
func (t *treeNames) names(n syntax.Node, kind kindCode) {
	var few [8]syntax.Node
	list := t.appendNames(few[:0], n)
	var path pathName
	for i, name := range list {
		switch {
		case len(list) == 1:
			t.mentionNode(name, kind)
		case i == 0:
			path = singleName(t.idOfNode(name))
		case i == len(list)-1:
			t.stepNode(path, name, kind)
		default:
			path = t.stepNode(path, name, mentionKind)
		}
	}
}

func (t *treeNames) appendNames(list []syntax.Node, n syntax.Node) []syntax.Node {
	if !t.descend() {
		return list
	}
	defer t.ascend()
	for _, child := range t.each(n) {
		switch {
		case child.Type() == n.Type():
			list = t.appendNames(list, child)
		case child.Type() == "identifier", child.Type() == "type_identifier":
			list = append(list, child)
		default:
			t.visit(child, mentionKind)
		}
	}
	return list
}

// reexports adds an import for each exported name that an import binds, or that the file declares under
// another name.
func (t *treeNames) reexports() {
	if len(t.exports) == 0 {
		return
	}
	declared := make(map[nameID]bool)
	for _, b := range t.scopes[0].bound {
		declared[b.name] = true
	}
	type imported struct{ module, name string }
	bound := make(map[string][]imported) // by local name
	for _, im := range t.found {
		for _, b := range im.Names {
			if !im.Reexport {
				bound[b.Local()] = append(bound[b.Local()], imported{im.Module, b.Name})
			}
		}
	}
	for _, e := range t.exports {
		for _, from := range bound[e.name] {
			t.reexport(from.module, e.at, Binding{Name: from.name, As: e.as})
		}
		if bound[e.name] == nil && e.name != e.as && declared[t.idOf(e.name)] {
			t.reexport("", e.at, Binding{Name: e.name, As: e.as})
		}
	}
}

func (t *treeNames) reexport(module string, at int, b Binding) {
	if b.As == b.Name {
		b.As = ""
	}
	if len(t.found) < MaxSymbols {
		t.found = append(t.found, Import{Module: module, Names: []Binding{b}, Reexport: true, Line: t.line(at)})
	}
}
