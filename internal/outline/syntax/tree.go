package syntax

import (
	"slices"

	ts "github.com/odvcencio/gotreesitter"
)

// A node is a node of the parser's own tree. It includes the helper nodes that the grammar hides.
type node struct {
	start, end   uint32
	first, count uint32 // range of its children in parser.children
	prec         int32
	cost         int32
	sym          uint16
	prod         uint16
	flags        uint8
}

// A ref is an index into parser.nodes. 0 means no node.
type ref uint32

const (
	isExtra   = 1 << iota // a comment or other node outside the grammar's rules
	isMissing             // inserted by a repair
)

// errorSym is the symbol of nodes for syntax errors.
const errorSym = 0xffff

// parent adds a node with the given children, which are in reverse order. Without children, the node is
// empty and at pos.
func (p *parser) parent(sym, prod uint16, children []ref, pos int) ref {
	n := node{
		sym: sym, prod: prod, start: uint32(pos), end: uint32(pos), first: uint32(len(p.children)), count: uint32(len(children)),
	}
	for i, r := range slices.Backward(children) {
		p.children = append(p.children, r)
		c := &p.nodes[r]
		if i == len(children)-1 {
			n.start, n.end = c.start, c.end
		}
		n.end = max(n.end, c.end)
		n.prec += c.prec
		n.cost += c.cost
	}
	return p.add(n)
}

// A Tree is the syntax tree of a text. It is not safe for concurrent use.
type Tree struct {
	root ref
	p    *parser
}

// Release reuses the memory of the tree. The caller must not use its nodes afterwards. The garbage collector
// frees a tree that is not released.
func (t *Tree) Release() {
	if p := t.p; p != nil {
		t.root, t.p = 0, nil
		p.free()
	}
}

// A Node is a visible node of a tree. The zero Node has no type, no text and no children.
type Node struct {
	p     *parser
	ref   ref
	sym   uint16 // its alias in the parent's production, or its own symbol
	field uint16
}

// raw returns the parser's own node.
func (n Node) raw() *node { return &n.p.nodes[n.ref] }

// Root returns the root node.
func (t *Tree) Root() Node { return Node{p: t.p, ref: t.root, sym: t.p.nodes[t.root].sym} }

// Whole reports whether the text has no syntax error.
func (t *Tree) Whole() bool {
	root := &t.p.nodes[t.root]
	return root.cost == 0 && root.sym != errorSym
}

// IsZero reports whether n is the zero Node.
func (n Node) IsZero() bool { return n.p == nil }

// Type returns the name of the node's rule, or the text of an unnamed token. It returns "ERROR" for a syntax
// error.
func (n Node) Type() string {
	if n.p == nil {
		return ""
	}
	if n.sym == errorSym {
		return "ERROR"
	}
	return n.p.g.names[n.sym]
}

// Symbol returns the index of the node's type in [Grammar.Names].
func (n Node) Symbol() uint16 {
	if n.sym == errorSym {
		return 0
	}
	return n.sym
}

// Field returns the node's field name in its parent, or "" if it has none.
func (n Node) Field() string {
	if n.p == nil {
		return ""
	}
	if int(n.field) < len(n.p.g.fields) {
		return n.p.g.fields[n.field]
	}
	return ""
}

// Named reports whether the node belongs to a named rule. Punctuation does not.
func (n Node) Named() bool {
	return n.p != nil && (n.sym == errorSym || int(n.sym) < len(n.p.g.named) && n.p.g.named[n.sym])
}

// Extra reports whether the node is outside the grammar's rules, such as a comment.
func (n Node) Extra() bool { return n.p != nil && n.raw().flags&isExtra != 0 }

// Missing reports whether the parser inserted this token to repair a syntax error.
func (n Node) Missing() bool { return n.p != nil && n.raw().flags&isMissing != 0 }

// Broken reports whether the node has a syntax error in it.
func (n Node) Broken() bool { return n.p != nil && (n.raw().cost > 0 || n.sym == errorSym) }

// Start returns the offset of the node's first byte.
func (n Node) Start() int {
	if n.p == nil {
		return 0
	}
	return int(n.raw().start)
}

// End returns the offset after the node's last byte.
func (n Node) End() int {
	if n.p == nil {
		return 0
	}
	return int(n.raw().end)
}

// Text returns the node's text in src.
func (n Node) Text(src []byte) string {
	if n.p == nil {
		return ""
	}
	return string(src[n.raw().start:n.raw().end])
}

// Child returns the first child with the given field name.
func (n Node) Child(field string) Node {
	if n.p == nil {
		return Node{}
	}
	var few [16]Node
	for _, c := range n.AppendChildren(few[:0]) {
		if c.field != 0 && c.Field() == field {
			return c
		}
	}
	return Node{}
}

// First returns the first child that has one of the given types.
func (n Node) First(types ...string) Node {
	if n.p == nil {
		return Node{}
	}
	var few [16]Node
	for _, c := range n.AppendChildren(few[:0]) {
		t := c.Type()
		for _, want := range types {
			if t == want {
				return c
			}
		}
	}
	return Node{}
}

// Children returns the node's children, including comments and punctuation.
func (n Node) Children() []Node {
	if n.p == nil || n.raw().count == 0 {
		return nil
	}
	return n.AppendChildren(make([]Node, 0, n.raw().count))
}

// AppendChildren appends the node's children to out.
func (n Node) AppendChildren(out []Node) []Node {
	if n.p == nil || n.raw().count == 0 {
		return out
	}
	// The children of a hidden node count as children of its parent. Hidden nodes nest as deeply as a list
	// is long, so the loop uses its own stack instead of recursion.
	p := n.p
	g := p.g
	stack := p.levels[:0]
	top := p.level(n.ref, 0)
	roles := g.roles(top.prod)
	for {
		if top.at == top.end {
			if len(stack) == 0 {
				break
			}
			top, stack = stack[len(stack)-1], stack[:len(stack)-1]
			roles = g.roles(top.prod)
			continue
		}
		r := p.children[top.at]
		top.at++
		c := &p.nodes[r]
		sym, field := c.sym, top.field
		if c.flags&isExtra == 0 {
			if int(top.index) < len(roles) {
				if as := roles[top.index]; as.alias != 0 {
					sym = as.alias
				}
				if as := roles[top.index]; as.field != 0 {
					field = as.field
				}
			}
			top.index++
		}
		switch {
		case sym == errorSym || int(sym) < len(g.visible) && g.visible[sym]:
			out = append(out, Node{p: p, ref: r, sym: sym, field: field})
		case c.count > 0:
			stack = append(stack, top)
			top = p.level(r, field)
			roles = g.roles(top.prod)
		}
	}
	p.levels = stack
	return out
}

// A level is a position among the children of one node.
type level struct {
	at, end uint32 // the remaining children
	index   uint32 // index of the next child in the production, not counting comments
	prod    uint16
	field   uint16 // field of the node itself, inherited by its children if it is hidden
}

// level returns the position before the first child. The children of a syntax error have no production.
func (p *parser) level(r ref, field uint16) level {
	n := &p.nodes[r]
	l := level{at: n.first, end: n.first + n.count, prod: n.prod, field: field}
	if n.sym == errorSym {
		l.prod = noProduction
	}
	return l
}

// A hidden token has no Node. Its text is between the visible nodes.

// A production gives the roles of a node's children, by index.
type production struct{ children []childRole }

type childRole struct {
	alias uint16 // symbol to use instead of its own, 0 for none
	field uint16 // field number, 0 for none
}

// noProduction is a production number without roles.
const noProduction = 0xffff

// roles returns the roles of the children in a production.
func (g *Grammar) roles(prod uint16) []childRole {
	if int(prod) < len(g.prods) {
		return g.prods[prod].children
	}
	return nil
}

func productionsOf(lang *ts.Language) []production {
	out := make([]production, max(len(lang.AliasSequences), len(lang.FieldMapSlices)))
	for id := range out {
		p := &out[id]
		role := func(index int) *childRole {
			for len(p.children) <= index {
				p.children = append(p.children, childRole{})
			}
			return &p.children[index]
		}
		if id > 0 && id < len(lang.AliasSequences) {
			for i, alias := range lang.AliasSequences[id] {
				if alias != 0 {
					role(i).alias = uint16(alias)
				}
			}
		}
		if id < len(lang.FieldMapSlices) {
			s := lang.FieldMapSlices[id]
			for _, e := range lang.FieldMapEntries[s[0] : s[0]+s[1]] {
				if e.Inherited {
					continue
				}
				if r := role(int(e.ChildIndex)); r.field == 0 { // the first field wins
					r.field = uint16(e.FieldID)
				}
			}
		}
	}
	return out
}
