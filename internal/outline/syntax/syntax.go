// Package syntax parses source text with the tables of tree-sitter grammars.
//
// The tables and the external scanners of some languages come from github.com/odvcencio/gotreesitter. They
// are loaded when a language is first used. The parser is our own. It is deterministic: its limit is a
// number of steps and not a time, so a file has the same tree on every machine. Where a text has one
// possible parse, the parser works like a plain LR parser. Where it has several, they share a
// graph-structured stack. Package outline interprets the nodes.
package syntax

import (
	"fmt"
	"sync"
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
)

// Limits of one parse. If a limit is reached, the rest of the text is a syntax error.
const (
	stepsPerByte = 60 // parser actions; ordinary text takes about one per byte
	stepsAtLeast = 200_000
	maxVersions  = 12   // parallel parses of an ambiguous text
	maxForks     = 64   // of one version at one token
	maxPaths     = 64   // down one stack
	maxLinks     = 8    // of one stack entry
	maxStack     = 5000 // depth of a stack
	maxRepairs   = 400  // of syntax errors
)

// A Grammar parses one language. It is safe for concurrent use.
type Grammar struct {
	*tables

	scanner ts.ExternalScanner // for tokens that the tables cannot describe; nil if there are none
	rows    rowTable
	moves   []move // by action entry
	mu      sync.Mutex
	sets    map[string]uint32 // see externalSet
	lexer   lexTable
	words   lexTable      // the lexer of keywords
	density atomic.Uint64 // nodes per densityUnit bytes of the last large text, see reserve
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

// Parse returns the syntax tree of a text. If the text has syntax errors, the tree has ERROR nodes and
// [Tree.Whole] returns false.
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

// free returns the parser to the pool.
func (p *parser) free() {
	p.reset()
	parsers.Put(p)
}

// Names returns the names of node types, indexed by [Node.Symbol].
func (g *Grammar) Names() []string { return g.names }
