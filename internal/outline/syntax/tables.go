package syntax

import ts "github.com/odvcencio/gotreesitter"

// cell returns what the parse table has for a state and a symbol: the number of
// an entry of actions for a token, a state for anything else, 0 for nothing.
func (p *parser) cell(state uint32, sym uint16) uint16 {
	lang := p.g.lang
	if int(state) < len(lang.ParseTable) {
		if row := lang.ParseTable[state]; int(sym) < len(row) {
			return row[sym]
		}
		return 0
	}
	key := uint64(state)<<16 | uint64(sym)
	slot := &p.cells[(state*31+uint32(sym)*7)%uint32(len(p.cells))]
	if *slot>>16 == key {
		return uint16(*slot)
	}
	value := smallCell(lang, state, sym)
	*slot = key<<16 | uint64(value)
	return value
}

// smallCell looks into the compressed part of the table: groups of symbols that
// share a value.
func smallCell(lang *ts.Language, state uint32, sym uint16) uint16 {
	i := int(state) - len(lang.ParseTable)
	if i < 0 || i >= len(lang.SmallParseTableMap) {
		return 0
	}
	table := lang.SmallParseTable
	at := int(lang.SmallParseTableMap[i])
	groups := int(table[at])
	at++
	for range groups {
		value, n := table[at], int(table[at+1])
		at += 2
		for _, s := range table[at : at+n] {
			if s == sym {
				return value
			}
		}
		at += n
	}
	return 0
}

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
