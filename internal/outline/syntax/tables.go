package syntax

import (
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
)

// A stateRow is all that the tables say of one state of the parser, spread out
// so that asking costs one look. Most states of a grammar never come up: each is
// spread out when first asked for.
type stateRow struct {
	cells []uint16 // by symbol: see cell
	lex   uint32   // the state of the lexer to begin in
	ext   uint32   // the same for two states that want the same of the scanner
	valid []bool   // which of the scanner's tokens it has a use for, nil for none
}

// row returns the row of a state.
func (g *Grammar) row(state uint32) *stateRow {
	if r := g.rows[state].Load(); r != nil {
		return r
	}
	return g.newRow(state)
}

func (g *Grammar) newRow(state uint32) *stateRow {
	lang := g.lang
	mode := &lang.LexModes[state]
	r := &stateRow{lex: mode.LexStateIndex(), ext: uint32(mode.ExternalLexState), cells: make([]uint16, g.symbols)}
	if int(state) < len(lang.ParseTable) {
		copy(r.cells, lang.ParseTable[state])
	} else {
		spread(lang, state, r.cells)
	}
	switch {
	case g.scanner == nil:
	case len(lang.ExternalLexStates) == 0:
		// The external tokens come from the parse table.
		for i, sym := range lang.ExternalSymbols {
			if state == 0 || r.cell(uint16(sym)) != 0 {
				if r.valid == nil {
					r.valid = make([]bool, len(lang.ExternalSymbols))
				}
				r.valid[i] = true
			}
		}
		if state != 0 { // which stands for all of them
			r.ext = g.wanted(r.valid)
		}
	case r.ext != 0 && int(r.ext) < len(lang.ExternalLexStates):
		r.valid = lang.ExternalLexStates[r.ext]
	}
	g.rows[state].Store(r)
	return r
}

// wanted numbers the sets of external tokens that states have a use for.
func (g *Grammar) wanted(valid []bool) uint32 {
	key := make([]byte, len(valid))
	for i, v := range valid {
		if v {
			key[i] = 1
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	id, ok := g.sets[string(key)]
	if !ok {
		id = uint32(len(g.sets)) + 1
		g.sets[string(key)] = id
	}
	return id
}

// spread lays out the compressed part of the table: groups of symbols that share
// a value. The first group with a symbol is the one that counts.
func spread(lang *ts.Language, state uint32, cells []uint16) {
	i := int(state) - len(lang.ParseTable)
	if i < 0 || i >= len(lang.SmallParseTableMap) {
		return
	}
	table := lang.SmallParseTable
	at := int(lang.SmallParseTableMap[i])
	groups := int(table[at])
	at++
	seen := make([]bool, len(cells))
	for range groups {
		value, n := table[at], int(table[at+1])
		at += 2
		for _, s := range table[at : at+n] {
			if int(s) < len(cells) && !seen[s] {
				cells[s], seen[s] = value, true
			}
		}
		at += n
	}
}

// cell returns what the parse table has for a symbol: the number of an entry of
// actions for a token, a state for anything else, 0 for nothing.
func (r *stateRow) cell(sym uint16) uint16 {
	if int(sym) < len(r.cells) {
		return r.cells[sym]
	}
	return 0
}

// A move is what an entry of actions comes to where there is one thing to do.
type move struct {
	kind     moveKind
	children uint8  // of a reduction
	extra    bool   // of a shift
	sym      uint16 // of a reduction
	prod     uint16
	prec     int16
	state    uint32 // behind a shift
}

type moveKind uint8

const (
	noMove     moveKind = iota // there is nothing to do: the text is broken here
	manyMoves                  // there is a choice, or an end
	shiftMove                  // the only thing
	reduceMove                 // the only thing
)

// movesOf sums up the entries of actions. A repetition is never followed: its
// list is reduced first.
func movesOf(lang *ts.Language) []move {
	moves := make([]move, len(lang.ParseActions))
	for i := range moves {
		var only *ts.ParseAction
		n := 0
		acts := lang.ParseActions[i].Actions
		for k := range acts {
			if a := &acts[k]; a.Type != ts.ParseActionRecover && (a.Type != ts.ParseActionShift || !a.Repetition) {
				only = a
				n++
			}
		}
		switch {
		case i == 0 || len(acts) == 0:
		case n == 1 && only.Type == ts.ParseActionShift:
			moves[i] = move{kind: shiftMove, extra: only.Extra, state: uint32(only.State)}
		case n == 1 && only.Type == ts.ParseActionReduce:
			moves[i] = move{
				kind: reduceMove, children: only.ChildCount, sym: uint16(only.Symbol), prod: only.ProductionID, prec: only.DynamicPrecedence,
			}
		default:
			moves[i].kind = manyMoves
		}
	}
	return moves
}

func (p *parser) cell(state uint32, sym uint16) uint16 { return p.g.row(state).cell(sym) }

// actions returns what may be done in a state at a token.
func (p *parser) actions(state uint32, sym uint16) []ts.ParseAction {
	if i := p.cell(state, sym); i != 0 && int(i) < len(p.g.lang.ParseActions) {
		return p.g.lang.ParseActions[i].Actions
	}
	return nil
}

// next returns the state behind a symbol, 0 if there is none.
func (p *parser) next(state uint32, sym uint16) uint32 {
	if uint32(sym) >= p.g.lang.TokenCount {
		return uint32(p.cell(state, sym))
	}
	acts := p.actions(state, sym)
	if len(acts) == 0 {
		return 0
	}
	last := acts[len(acts)-1]
	switch {
	case last.Type != ts.ParseActionShift:
		return 0
	case last.Extra:
		return state
	default:
		return uint32(last.State)
	}
}

// rowTable has a place for the row of each state.
type rowTable []atomic.Pointer[stateRow]
