// Package syntax makes trees of source text by the tables of tree-sitter
// grammars.
//
// The tables, and the scanners that some languages need beside them, are those of
// github.com/odvcencio/gotreesitter, loaded when a language is first asked for.
// The parser that runs over them is our own: deterministic, with a budget of steps
// instead of a clock, so that a file has the same tree on every machine or on
// none. Where a text has one reading it goes straight, as a plain LR parser does;
// where it has several, they share a graph-structured stack. What the nodes mean is
// for internal/outline to say.
package syntax

import (
	"fmt"
	"sync"
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
)

// Limits of one parse. Behind the place where one is reached, the text is broken
// syntax.
const (
	stepsPerByte = 60 // actions of the parser; ordinary text takes about one
	stepsAtLeast = 200_000
	maxVersions  = 12   // readings of an ambiguous text, side by side
	maxForks     = 64   // of one reading at one token
	maxPaths     = 64   // down one stack
	maxLinks     = 8    // of one entry of a stack
	maxStack     = 5000 // of nested constructs
	maxRepairs   = 400  // of broken syntax
)

// A Grammar parses one language. It is safe for concurrent use.
type Grammar struct {
	*tables

	scanner ts.ExternalScanner // for what the tables cannot say, nil for nothing
	rows    rowTable
	moves   []move // by entry of actions
	mu      sync.Mutex
	sets    map[string]uint32 // see wanted
	lexer   lexTable
	words   lexTable      // of keywords
	density atomic.Uint64 // nodes in so many bytes of the last large text, see reserve
}

func newGrammar(t *tables) (*Grammar, error) {
	g := &Grammar{tables: t, sets: make(map[string]uint32), scanner: scannerFor(t)}
	if g.scanner != nil {
		if err := checkExternalLexer(); err != nil {
			return nil, err
		}
	}
	if t.name == "c_sharp" && g.scanner != nil && len(t.externals) > csharpContent {
		g.scanner = csharpScanner{g.scanner, t.externals[csharpContent]}
	}
	g.rows, g.moves = make(rowTable, len(t.modes)), movesOf(t)
	g.lexer, g.words = newLexTable(t.lexers), newLexTable(t.keyword)
	return g, nil
}

// Parse returns the tree of a text. Where the text breaks the grammar, the tree
// has ERROR nodes and [Tree.Whole] is false. The text is not kept beyond the tree.
func (g *Grammar) Parse(src []byte) (tree *Tree, err error) {
	if uint64(len(src)) > 1<<31 {
		return nil, fmt.Errorf("%d bytes are more than can be parsed", len(src))
	}
	p := newParser(g)
	if tree, err = p.parse(src); err != nil {
		p.free()
	}
	return tree, err
}

// free makes a parser ready for the next text.
func (p *parser) free() {
	p.forget()
	parsers.Put(p)
}

// Names are what the grammar calls the types of its nodes.
func (g *Grammar) Names() []string { return g.names }
