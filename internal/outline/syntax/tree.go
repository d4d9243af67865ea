package syntax

import (
	"slices"

	ts "github.com/odvcencio/gotreesitter"
)

// A node is a piece of the tree as the parser makes it, with the helper nodes
// that a grammar hides.
type node struct {
	start, end   uint32
	first, count uint32 // its children among the parser's
	prec         int32
	cost         int32
	sym          uint16
	prod         uint16
	flags        uint8
}

// A ref is the number of a node among the parser's, 0 for none.
type ref uint32

const (
	isExtra   = 1 << iota // a comment or the like, outside of the grammar's rules
	isMissing             // put in by a repair
)

// errorSym is what broken syntax is gathered under.
const errorSym = 0xffff

// parent makes a node of its children, which come in reverse order. One without
// children stands at pos.
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

// A Tree is the syntax tree of a text, for one reader at a time.
type Tree struct {
	root ref
	p    *parser
}

// Release gives back the memory of the tree, whose nodes are not to be used any more. A
// tree that is not released is collected as anything else.
func (t *Tree) Release() {
	if p := t.p; p != nil {
		t.root, t.p = 0, nil
		p.free()
	}
}

// A Node is a node of a tree as its grammar means it to be seen. The zero Node
// is none: it has no type, no text and no children.
type Node struct {
	p     *parser
	ref   ref
	sym   uint16 // as it is called here
	field uint16
}

// raw is the node as the parser made it.
func (n Node) raw() *node { return &n.p.nodes[n.ref] }

// Root returns the node that everything else is in.
func (t *Tree) Root() Node { return Node{p: t.p, ref: t.root, sym: t.p.nodes[t.root].sym} }

// Whole reports whether the text follows its grammar throughout.
func (t *Tree) Whole() bool {
	root := &t.p.nodes[t.root]
	return root.cost == 0 && root.sym != errorSym
}

// IsZero reports whether there is no such node.
func (n Node) IsZero() bool { return n.p == nil }

// Type is what the grammar calls the node: a rule's name, or the text of a
// token that has none. Broken syntax is "ERROR".
func (n Node) Type() string {
	if n.p == nil {
		return ""
	}
	if n.sym == errorSym {
		return "ERROR"
	}
	return n.p.g.names[n.sym]
}

// Symbol is the number of the node's type among the grammar's names.
func (n Node) Symbol() uint16 {
	if n.sym == errorSym {
		return 0
	}
	return n.sym
}

// Field is what the node is to its parent, "" for nothing particular.
func (n Node) Field() string {
	if n.p == nil {
		return ""
	}
	if int(n.field) < len(n.p.g.fields) {
		return n.p.g.fields[n.field]
	}
	return ""
}

// Named reports a node that stands for a rule, rather than for punctuation.
func (n Node) Named() bool {
	return n.p != nil && (n.sym == errorSym || int(n.sym) < len(n.p.g.named) && n.p.g.named[n.sym])
}

// Extra reports a node that may stand anywhere, such as a comment.
func (n Node) Extra() bool { return n.p != nil && n.raw().flags&isExtra != 0 }

// Missing reports a token that is not in the text and should be.
func (n Node) Missing() bool { return n.p != nil && n.raw().flags&isMissing != 0 }

// Broken reports broken syntax, in the node or anywhere inside it.
func (n Node) Broken() bool { return n.p != nil && (n.raw().cost > 0 || n.sym == errorSym) }

// Start is where the node begins.
func (n Node) Start() int {
	if n.p == nil {
		return 0
	}
	return int(n.raw().start)
}

// End is where the node ends.
func (n Node) End() int {
	if n.p == nil {
		return 0
	}
	return int(n.raw().end)
}

// Text returns the node's text.
func (n Node) Text(src []byte) string {
	if n.p == nil {
		return ""
	}
	return string(src[n.raw().start:n.raw().end])
}

// Child returns the first child with a field's name.
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

// First returns the first child of one of several types.
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

// Children returns the node's children, comments and punctuation included.
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
	// Hidden nodes are seen through. They nest as deeply as a list is long, so
	// this keeps a stack of its own.
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

// A level is a node whose children are being seen.
type level struct {
	at, end uint32 // the children to come
	index   uint32 // the place of the next, comments apart
	prod    uint16
	field   uint16 // what the whole is to its parent, if it is hidden
}

// level returns a node of which no child was seen. Of those of broken syntax nothing is
// said: no production is.
func (p *parser) level(r ref, field uint16) level {
	n := &p.nodes[r]
	l := level{at: n.first, end: n.first + n.count, prod: n.prod, field: field}
	if n.sym == errorSym {
		l.prod = noProduction
	}
	return l
}

// Hidden tokens have no node; what they cover is text between the nodes that
// are seen.

// A production says what the children of a node are to it, by their places.
type production struct{ children []childRole }

type childRole struct {
	alias uint16 // what it is called there, 0 for what it is
	field uint16 // 0 for nothing particular
}

// noProduction has no roles.
const noProduction = 0xffff

// roles returns what the children of a node of a production are to it.
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
				if r := role(int(e.ChildIndex)); r.field == 0 { // the first counts
					r.field = uint16(e.FieldID)
				}
			}
		}
	}
	return out
}
