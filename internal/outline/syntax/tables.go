package syntax

import (
	"errors"
	"slices"
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
)

// tables are all that the parser knows of a language: those of the library, in lists
// without pointers as far as they are long, so that they can be kept and read back at once.
type tables struct {
	name    string
	names   []string // of symbols
	fields  []string // names
	visible []bool   // by symbol: its nodes are seen
	named   []bool   // by symbol: it stands for a rule
	symbols int      // how many a row may have
	tokens  uint32   // symbols below it are tokens
	initial uint32   // state
	word    uint16   // the token that may be a keyword

	modes   []lexMode        // by state
	rowAt   []uint32         // by state: where its row begins in cells
	cells   []uint16         // see spread
	entryAt []uint32         // by entry of actions: where its actions begin; and where the last end
	actions []ts.ParseAction // of all entries
	prods   []production     // by number

	lexers, keyword lexStates

	externals      []ts.Symbol // the scanner's tokens
	externalStates [][]bool    // by number: which of them are wanted; none where the cells say so
}

// A lexMode is how a state of the parser wants its next token.
type lexMode struct {
	lex uint32 // the state of the lexer to begin in
	ext uint32 // what is wanted of the scanner
}

// lexStates are the states of a lexer.
type lexStates struct {
	states      []lexState
	transitions []transition // of all states
}

type lexState struct {
	from, to uint32 // its transitions; the first that fits counts
	rest     int16  // the state behind any other character, nowhere for none
	eof      int16  // the state at the end of the text, nowhere for none
	sym      uint16 // what was read so far is, if it accepts
	accepts  bool
}

// A transition leads from a range of characters to a state, with skipBit if they are not
// part of the token; to nowhere if they lead where any other character does.
type transition struct {
	lo, hi rune
	next   int16
}

// tablesOf takes the tables of a language from the library.
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
	t.gather(lang)
	for _, e := range lang.ParseActions {
		t.entryAt = append(t.entryAt, uint32(len(t.actions)))
		t.actions = append(t.actions, e.Actions...)
	}
	t.entryAt = append(t.entryAt, uint32(len(t.actions)))
	if !t.sound() {
		return nil, errors.New("the grammar's tables are inconsistent")
	}
	return t, nil
}

// gather makes one list of both parts of the parse table, the one with a cell for each
// symbol and the compressed one, in the form of the latter: the number of groups, then each
// as a value, the number of symbols that have it, and the symbols. The first group with
// a symbol is the one that counts.
func (t *tables) gather(lang *ts.Language) {
	t.cells = []uint16{0} // a row of nothing
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

// rowGroups gather the symbols of a row by value. It is used again for the next row.
type rowGroups struct {
	last   map[uint16]int // by value: its last symbol so far
	before []int          // by symbol: the one before it with the same value, -1 for none
	values []uint16       // in order
}

// append appends a row that has a cell for each symbol.
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

// lexStatesOf takes the states of a lexer from the library. Many have the same
// transitions, such as all that letters lead to, which are listed once.
func lexStatesOf(states []ts.LexState) lexStates {
	list := lexStates{states: make([]lexState, len(states))}
	type span struct{ from, to uint32 }
	seen := make(map[string]span)
	for i := range states {
		st := &states[i]
		from := uint32(len(list.transitions))
		for _, tr := range st.Transitions {
			next := int16(nowhere)
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
			from: at.from, to: at.to, rest: int16(max(nowhere, st.Default)), eof: int16(max(nowhere, st.EOF)),
			sym: uint16(st.AcceptToken), accepts: st.AcceptToken > 0 || st.Skip,
		}
	}
	return list
}

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
	mode := g.modes[state]
	r := &stateRow{lex: mode.lex, ext: mode.ext, cells: make([]uint16, g.symbols)}
	g.spread(state, r.cells)
	switch {
	case g.scanner == nil:
	case len(g.externalStates) == 0:
		// The external tokens come from the parse table.
		for i, sym := range g.externals {
			if state == 0 || r.cell(uint16(sym)) != 0 {
				if r.valid == nil {
					r.valid = make([]bool, len(g.externals))
				}
				r.valid[i] = true
			}
		}
		if state != 0 { // which stands for all of them
			r.ext = g.wanted(r.valid)
		}
	case r.ext != 0 && int(r.ext) < len(g.externalStates):
		r.valid = g.externalStates[r.ext]
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

// spread lays out the row of a state, see gather.
func (t *tables) spread(state uint32, cells []uint16) {
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

// actions returns what may be done in a state at a token.
func (p *parser) actions(state uint32, sym uint16) []ts.ParseAction {
	g := p.g
	if i := int(p.cell(state, sym)); i != 0 && i+1 < len(g.entryAt) {
		return g.actions[g.entryAt[i]:g.entryAt[i+1]]
	}
	return nil
}

// next returns the state behind a symbol, 0 if there is none.
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

// rowTable has a place for the row of each state.
type rowTable []atomic.Pointer[stateRow]
