package syntax

import (
	"errors"
	"slices"
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
)

// tables holds the parse tables of a language, taken from the library. Long tables are slices without
// pointers, so that they can be saved and loaded quickly.
type tables struct {
	name    string
	names   []string // of symbols
	fields  []string // field names
	visible []bool   // by symbol: its nodes are visible
	named   []bool   // by symbol: it is a named rule
	symbols int      // number of cells in an expanded row
	tokens  uint32   // symbols below it are tokens
	initial uint32   // initial state
	word    uint16   // the token that may be a keyword

	modes   []lexMode        // by state
	rowAt   []uint32         // by state: index of its row in cells
	cells   []uint16         // compressed rows, see mergeTables
	entryAt []uint32         // by action entry: index of its first action; the last element is len(actions)
	actions []ts.ParseAction // of all entries
	prods   []production     // by number

	lexers, keyword lexStates

	externals      []ts.Symbol // the external scanner's tokens
	externalStates [][]bool    // sets of valid external tokens, by number; empty if the parse table defines them
}

// A lexMode tells how to lex the next token in a parser state.
type lexMode struct {
	lex uint32 // initial state of the lexer
	ext uint32 // index into externalStates
}

// lexStates holds the states of a lexer.
type lexStates struct {
	states      []lexState
	transitions []transition // of all states
}

type lexState struct {
	from, to uint32 // its transitions; the first match wins
	rest     int16  // next state for any other character, or noState
	eof      int16  // next state at the end of the text, or noState
	sym      uint16 // symbol of the accepted token
	accepts  bool
}

// A transition maps a range of characters to the next state. The state has skipBit set if the characters are
// not part of the token. It is noState if they have the same next state as any other character.
type transition struct {
	lo, hi rune
	next   int16
}

// tablesOf converts the library's tables of a language.
func tablesOf(name string, lang *ts.Language) (*tables, error) {
	if lang == nil || lang.InitialState == 0 || len(lang.LargeStateGotos) > 0 || lang.TokenCount == 0 ||
		len(lang.ParseTable) != int(lang.LargeStateCount) || len(lang.LexModes) < int(lang.StateCount) ||
		max(len(lang.LexStates), len(lang.KeywordLexStates)) > maxLexStates {
		return nil, errors.New("the grammar's tables have an unknown form")
	}
	t := &tables{
		name: name, names: lang.SymbolNames, fields: lang.FieldNames,
		tokens: lang.TokenCount, initial: uint32(lang.InitialState), word: uint16(lang.KeywordCaptureToken),
		externals: lang.ExternalSymbols, externalStates: lang.ExternalLexStates,
		prods: productionsOf(lang), lexers: lexStatesOf(lang.LexStates), keyword: lexStatesOf(lang.KeywordLexStates),
	}
	for _, m := range lang.SymbolMetadata {
		t.visible, t.named = append(t.visible, m.Visible), append(t.named, m.Named)
	}
	t.symbols = max(int(lang.SymbolCount), len(lang.SymbolNames))
	for _, row := range lang.ParseTable {
		t.symbols = max(t.symbols, len(row))
	}
	t.modes = make([]lexMode, len(lang.LexModes))
	for i := range t.modes {
		m := &lang.LexModes[i]
		t.modes[i] = lexMode{m.LexStateIndex(), uint32(m.ExternalLexState)}
	}
	t.mergeTables(lang)
	for _, e := range lang.ParseActions {
		t.entryAt = append(t.entryAt, uint32(len(t.actions)))
		t.actions = append(t.actions, e.Actions...)
	}
	t.entryAt = append(t.entryAt, uint32(len(t.actions)))
	if !t.consistent() {
		return nil, errors.New("the grammar's tables are inconsistent")
	}
	return t, nil
}

// mergeTables joins both parts of the library's parse table: the full rows and the compressed ones. The
// result has compressed rows. A row is a number of groups. A group is a value, a number of symbols, and the
// symbols that have that value. If a symbol is in several groups, the first group wins.
func (t *tables) mergeTables(lang *ts.Language) {
	t.cells = []uint16{0} // an empty row
	t.rowAt = make([]uint32, len(lang.LexModes))
	var group rowGroups
	for state, row := range lang.ParseTable[:min(len(lang.ParseTable), len(t.rowAt))] {
		t.rowAt[state] = uint32(len(t.cells))
		t.cells = group.append(t.cells, row)
	}
	base := uint32(len(t.cells))
	t.cells = append(t.cells, lang.SmallParseTable...)
	for i, at := range lang.SmallParseTableMap {
		if state := i + len(lang.ParseTable); state < len(t.rowAt) {
			t.rowAt[state] = base + at
		}
	}
}

// rowGroups groups the symbols of a row by value. It is reused for the next row.
type rowGroups struct {
	last   map[uint16]int // by value: its last symbol so far
	before []int          // by symbol: the previous symbol with the same value, -1 for none
	values []uint16       // in the order of their first symbols
}

// append compresses a full row and appends it to out.
func (g *rowGroups) append(out, row []uint16) []uint16 {
	if g.last == nil {
		g.last = make(map[uint16]int)
	}
	clear(g.last)
	g.before, g.values = slices.Grow(g.before[:0], len(row))[:len(row)], g.values[:0]
	for sym, value := range row {
		if value == 0 {
			continue
		}
		last, ok := g.last[value]
		if !ok {
			last = -1
			g.values = append(g.values, value)
		}
		g.before[sym], g.last[value] = last, sym
	}
	out = append(out, uint16(len(g.values)))
	for _, value := range g.values {
		size := len(out) + 1
		out = append(out, value, 0)
		for sym := g.last[value]; sym >= 0; sym = g.before[sym] {
			out = append(out, uint16(sym))
		}
		out[size] = uint16(len(out) - size - 1)
	}
	return out
}

// lexStatesOf converts the library's states of a lexer. Many states have equal transitions, which are stored
// once.
func lexStatesOf(states []ts.LexState) lexStates {
	list := lexStates{states: make([]lexState, len(states))}
	type span struct{ from, to uint32 }
	seen := make(map[string]span)
	for i := range states {
		st := &states[i]
		from := uint32(len(list.transitions))
		for _, tr := range st.Transitions {
			next := int16(noState)
			switch {
			case tr.NextState < 0:
			case tr.Skip:
				next = int16(tr.NextState) | skipBit
			default:
				next = int16(tr.NextState)
			}
			list.transitions = append(list.transitions, transition{tr.Lo, tr.Hi, next})
		}
		own := list.transitions[from:]
		key := string(appendTransitions(nil, own))
		at, ok := seen[key]
		if ok {
			list.transitions = list.transitions[:from]
		} else {
			at = span{from, uint32(len(list.transitions))}
			seen[key] = at
		}
		list.states[i] = lexState{
			from: at.from, to: at.to, rest: int16(max(noState, st.Default)), eof: int16(max(noState, st.EOF)),
			sym: uint16(st.AcceptToken), accepts: st.AcceptToken > 0 || st.Skip,
		}
	}
	return list
}

// A stateRow is the expanded row of one parser state, so that a lookup is one index operation. A row is
// expanded on first use, because most states of a grammar are never reached.
type stateRow struct {
	cells []uint16 // by symbol, see cell
	lex   uint32   // initial state of the lexer
	ext   uint32   // number of the set of valid external tokens
	valid []bool   // by external token: the state accepts it; nil for none
}

// row returns the expanded row of a state.
func (g *Grammar) row(state uint32) *stateRow {
	if r := g.rows[state].Load(); r != nil {
		return r
	}
	return g.newRow(state)
}

func (g *Grammar) newRow(state uint32) *stateRow {
	mode := g.modes[state]
	r := &stateRow{lex: mode.lex, ext: mode.ext, cells: make([]uint16, g.symbols)}
	g.expandRow(state, r.cells)
	switch {
	case g.scanner == nil:
	case len(g.externalStates) == 0:
		// This grammar has no sets of external tokens. Derive the set from the parse table.
		for i, sym := range g.externals {
			if state == 0 || r.cell(uint16(sym)) != 0 {
				if r.valid == nil {
					r.valid = make([]bool, len(g.externals))
				}
				r.valid[i] = true
			}
		}
		if state != 0 { // state 0 accepts all of them
			r.ext = g.externalSet(r.valid)
		}
	case r.ext != 0 && int(r.ext) < len(g.externalStates):
		r.valid = g.externalStates[r.ext]
	}
	g.rows[state].Store(r)
	return r
}

// externalSet returns a number for a set of external tokens. Equal sets have the same number.
func (g *Grammar) externalSet(valid []bool) uint32 {
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

// expandRow writes the row of a state to cells, see mergeTables.
func (t *tables) expandRow(state uint32, cells []uint16) {
	row := t.cells[t.rowAt[state]:]
	groups := int(row[0])
	row = row[1:]
	seen := make([]bool, len(cells))
	for range groups {
		value, n := row[0], int(row[1])
		for _, s := range row[2 : 2+n] {
			if int(s) < len(cells) && !seen[s] {
				cells[s], seen[s] = value, true
			}
		}
		row = row[2+n:]
	}
}

// cell returns the parse table's value for a symbol: the number of an action entry for a token, the next
// state for any other symbol, or 0 for none.
func (r *stateRow) cell(sym uint16) uint16 {
	if int(sym) < len(r.cells) {
		return r.cells[sym]
	}
	return 0
}

// A move is an action entry in the form that the linear parser uses: at most one action.
type move struct {
	kind     moveKind
	children uint8  // of a reduction
	extra    bool   // of a shift
	sym      uint16 // of a reduction
	prod     uint16
	prec     int16
	state    uint32 // next state after a shift
}

type moveKind uint8

const (
	noMove     moveKind = iota // no action: a syntax error
	manyMoves                  // several actions, or the end of the text
	shiftMove                  // one shift
	reduceMove                 // one reduction
)

// movesOf converts all action entries. It ignores shifts that continue a repetition, because the repetition
// is reduced first.
func movesOf(t *tables) []move {
	moves := make([]move, len(t.entryAt)-1)
	for i := range moves {
		var only *ts.ParseAction
		n := 0
		acts := t.actions[t.entryAt[i]:t.entryAt[i+1]]
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

// actions returns the actions of a state for a token.
func (p *parser) actions(state uint32, sym uint16) []ts.ParseAction {
	g := p.g
	if i := int(p.cell(state, sym)); i != 0 && i+1 < len(g.entryAt) {
		return g.actions[g.entryAt[i]:g.entryAt[i+1]]
	}
	return nil
}

// next returns the next state after a symbol, 0 if there is none.
func (p *parser) next(state uint32, sym uint16) uint32 {
	if uint32(sym) >= p.g.tokens {
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

// A rowTable holds the expanded rows by state.
type rowTable []atomic.Pointer[stateRow]
