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
	c.reexports()
	f.scratch.nodes = c.nodes[:0]
	return c.references(lang.builtin, lang.member)
}

// visit walks a node. kind tells how the node is used.
func (c *treeNames) visit(n syntax.Node, kind kindCode) {
	if !n.Named() || !c.descend() {
		return
	}
	c.visitNode(c, n, kind)
	c.ascend()
}

// each yields the children of a node. All nodes from the root to the current one share one array for their
// children.
func (c *treeNames) each(n syntax.Node) iter.Seq2[int, syntax.Node] {
	return func(yield func(int, syntax.Node) bool) {
		from := len(c.nodes)
		c.nodes = n.AppendChildren(c.nodes)
		for i, child := range c.nodes[from:] {
			if !yield(i, child) {
				break
			}
		}
		c.nodes = c.nodes[:from]
	}
}

// children walks all children of a node.
func (c *treeNames) children(n syntax.Node) { c.childrenAs(n, mentionKind) }

func (c *treeNames) childrenAs(n syntax.Node, kind kindCode) {
	for _, child := range c.each(n) {
		c.visit(child, kind)
	}
}

// childAs walks the children of a node. kind applies to those with the given field.
func (c *treeNames) childAs(n syntax.Node, field string, kind kindCode) {
	for _, child := range c.each(n) {
		if child.Field() == field {
			c.visit(child, kind)
		} else {
			c.visit(child, mentionKind)
		}
	}
}

// firstAs walks the children of a node. kind applies to the first one.
func (c *treeNames) firstAs(n syntax.Node, kind kindCode) {
	for i, child := range c.each(n) {
		if i == 0 {
			c.visit(child, kind)
		} else {
			c.visit(child, mentionKind)
		}
	}
}

// except walks the children of a node, except those with one of the fields.
func (c *treeNames) except(n syntax.Node, fields ...string) {
	for _, child := range c.each(n) {
		if !slices.Contains(fields, child.Field()) {
			c.visit(child, mentionKind)
		}
	}
}

// scope walks all children of a node in a new scope.
func (c *treeNames) scope(n syntax.Node) { c.within(false, func() { c.children(n) }) }

// bytes returns the text of a node.
func (c *treeNames) bytes(n syntax.Node) []byte { return c.src[n.Start():n.End()] }

func (c *treeNames) text(n syntax.Node) string { return n.Text(c.src) }

// idOfNode returns the nameID of a node's text.
func (c *treeNames) idOfNode(n syntax.Node) nameID {
	if n.IsZero() {
		return 0
	}
	return c.id(c.bytes(n))
}

// mentionNode records an unqualified name.
func (c *treeNames) mentionNode(n syntax.Node, kind kindCode) {
	c.mention(c.idOfNode(n), n.Start(), kind)
}

// stepNode records a member of a path and returns the path including it.
func (c *treeNames) stepNode(before pathName, name syntax.Node, kind kindCode) pathName {
	return c.step(before, c.separator, c.bytes(name), name.Start(), kind)
}

// bindParams binds type parameters.
func (c *treeNames) bindParams(list syntax.Node) {
	for _, p := range list.Children() {
		c.bindAll(c.idOfNode(p.Child("name")), pathName{})
	}
}

// inClass walks the members of a class.
func (c *treeNames) inClass(name syntax.Node, walk func()) {
	was := c.class
	id := c.idOfNode(name)
	switch {
	case id == 0:
		c.class = pathName{}
	case was.path == 0:
		c.class = singleName(id)
	default:
		c.class = c.join(was, c.separator, c.bytes(name))
	}
	walk()
	c.class = was
}

// assigned records that the file adds a member to the current class.
func (c *treeNames) assigned(member syntax.Node) {
	if c.class.path != 0 {
		c.members[plainName(c.texts[c.class.path])+"."+c.text(member)] = true
	}
}

// bindOwn binds the members that the file declares for a class in the innermost scope.
func (c *treeNames) bindOwn(class nameID) {
	if c.classMembers == nil {
		c.classMembers = make(map[string]map[nameID]bool)
		for i := range c.symbols {
			s := &c.symbols[i]
			owner, ok := strings.CutSuffix(s.Qualified, "."+s.Name)
			if !ok {
				continue
			}
			owner = owner[strings.LastIndexByte(owner, '.')+1:]
			if c.classMembers[owner] == nil {
				c.classMembers[owner] = make(map[nameID]bool)
			}
			if owner != s.Name { // otherwise it is a constructor
				c.classMembers[owner][c.idOf(s.Name)] = true
			}
		}
	}
	c.scopes[len(c.scopes)-1].members = c.classMembers[c.texts[class]]
}

// names walks a path whose names are the children of a node, or of a nested node of the same type.
func (c *treeNames) names(n syntax.Node, kind kindCode) {
	var few [8]syntax.Node
	list := c.appendNames(few[:0], n)
	var path pathName
	for i, name := range list {
		switch {
		case len(list) == 1:
			c.mentionNode(name, kind)
		case i == 0:
			path = singleName(c.idOfNode(name))
		case i == len(list)-1:
			c.stepNode(path, name, kind)
		default:
			path = c.stepNode(path, name, mentionKind)
		}
	}
}

func (c *treeNames) appendNames(list []syntax.Node, n syntax.Node) []syntax.Node {
	if !c.descend() {
		return list
	}
	defer c.ascend()
	for _, child := range c.each(n) {
		switch {
		case child.Type() == n.Type():
			list = c.appendNames(list, child)
		case child.Type() == "identifier", child.Type() == "type_identifier":
			list = append(list, child)
		default:
			c.visit(child, mentionKind)
		}
	}
	return list
}

// reexports adds an import for each exported name that an import binds, or that the file declares under
// another name.
func (c *treeNames) reexports() {
	if len(c.exports) == 0 {
		return
	}
	declared := make(map[nameID]bool)
	for _, b := range c.scopes[0].bound {
		declared[b.name] = true
	}
	type imported struct{ module, name string }
	bound := make(map[string][]imported) // by local name
	for _, im := range c.found {
		for _, b := range im.Names {
			if !im.Reexport {
				bound[b.Local()] = append(bound[b.Local()], imported{im.Module, b.Name})
			}
		}
	}
	for _, e := range c.exports {
		for _, from := range bound[e.name] {
			c.reexport(from.module, e.at, Binding{Name: from.name, As: e.as})
		}
		if bound[e.name] == nil && e.name != e.as && declared[c.idOf(e.name)] {
			c.reexport("", e.at, Binding{Name: e.name, As: e.as})
		}
	}
}

func (c *treeNames) reexport(module string, at int, b Binding) {
	if b.As == b.Name {
		b.As = ""
	}
	if len(c.found) < MaxSymbols {
		c.found = append(c.found, Import{Module: module, Names: []Binding{b}, Reexport: true, Line: c.line(at)})
	}
}
