package syntax

import (
	"sync/atomic"
	"unicode/utf8"
)

// A token is the next piece of text as one state sees it.
type token struct {
	start, end uint32
	scan       uint32 // what the language's scanner remembers behind it
	sym        uint16
	keyword    uint16 // what it is where that keyword may stand, 0 if it is none
	none       bool   // the state wants no token: what it has is complete
	broken     bool   // nothing that any state knows
}

// A lexTable is a lexer: its states, each spread out when first needed.
type lexTable struct {
	lexStates

	rows []atomic.Pointer[lexRow]
}

// A lexRow is one state of a lexer.
type lexRow struct {
	ascii   [utf8.RuneSelf]int16 // where a character leads, see step
	accepts bool                 // what was read so far is a token
	sym     uint16               // of that
}

// Where a character leads is a state, with skipBit if the character is not part of the
// token, or nowhere.
const (
	nowhere      = -1
	skipBit      = 1 << 14
	maxLexStates = skipBit
)

func newLexTable(l lexStates) lexTable {
	return lexTable{l, make([]atomic.Pointer[lexRow], len(l.states))}
}

func (t *lexTable) newRow(state int16) *lexRow {
	st := &t.states[state]
	r := &lexRow{accepts: st.accepts, sym: st.sym}
	var set [utf8.RuneSelf]bool
	for c := range r.ascii {
		r.ascii[c] = st.rest
	}
	for _, tr := range t.transitions[st.from:st.to] {
		for c := tr.lo; c <= min(tr.hi, utf8.RuneSelf-1); c++ {
			if !set[c] {
				set[c] = true
				if tr.next != nowhere {
					r.ascii[c] = tr.next
				}
			}
		}
	}
	t.rows[state].Store(r)
	return r
}

// step follows a transition: the next state, with skipBit if the character is
// not part of the token.
func (t *lexTable) step(state int16, r rune) int16 {
	st := &t.states[state]
	for i := st.from; i < st.to; i++ {
		if tr := &t.transitions[i]; r >= tr.lo && r <= tr.hi {
			if tr.next == nowhere {
				break
			}
			return tr.next
		}
	}
	return st.rest
}

// run lets a lexer loose at pos. ok is false where it accepts nothing; eof says
// that only white space was left.
func (p *parser) run(table *lexTable, state uint32, pos int) (sym uint16, start, end int, ok, eof bool) {
	src, from := p.src, pos
	start = pos
	cur := int16(state)
	hops := 0
	for cur >= 0 && int(cur) < len(table.rows) {
		row := table.rows[cur].Load()
		if row == nil {
			row = table.newRow(cur)
		}
		// Most of a text are runs of one kind: white space, words, comments.
		for pos < len(src) && src[pos] < utf8.RuneSelf && row.ascii[src[pos]] == cur {
			pos++
		}
		if row.accepts {
			sym, end, ok = row.sym, pos, true
		}
		if pos >= len(src) {
			if st := &table.states[cur]; st.eof >= 0 && hops <= len(table.states) {
				cur = st.eof
				hops++
				continue
			}
			break
		}
		var next int16
		if b := src[pos]; b < utf8.RuneSelf {
			next = row.ascii[b]
			if next == nowhere {
				break
			}
			pos++
		} else {
			r, size := utf8.DecodeRune(src[pos:])
			if next = table.step(cur, r); next == nowhere {
				break
			}
			pos += size
		}
		if next&skipBit != 0 {
			next &^= skipBit
			for next == cur && pos < len(src) && src[pos] < utf8.RuneSelf && row.ascii[src[pos]] == cur|skipBit {
				pos++
			}
			start, ok = pos, false
		}
		cur = next
	}
	p.steps += (pos - from) / 8
	return sym, start, end, ok, !ok && start >= len(src)
}

// lex returns the token at the top of a stack.
func (p *parser) lex(top *entry) token {
	return *p.lexIn(top.state, top.pos, top.scan)
}

// lexedTokens are the last tokens, for the other states and readings at the same
// place.
type lexedTokens struct {
	list [8]lexed
	turn uint // how many there were: the next takes the place of the oldest
	last uint // the one that was asked for last
	far  int  // no place behind it has been asked for
}

type lexed struct {
	token    token
	pos      int
	lex, ext uint32
	scan     uint32
	known    bool   // there is one
	state    uint32 // that asked for it last
	cost     int    // in steps
}

// lexIn returns the token at a place as a state sees it, until the next call. A state
// that knows nothing of what stands there gets what the grammar as a whole knows.
func (p *parser) lexIn(state uint32, pos int, scan uint32) *token {
	return p.lexAs(state, p.g.row(state), pos, scan)
}

func (p *parser) lexAs(state uint32, row *stateRow, pos int, scan uint32) *token {
	seen := &p.recent
	// The states in which one token is reduced ask for it one after the other.
	if r := &seen.list[seen.last%uint(len(seen.list))]; r.pos == pos && r.lex == row.lex && r.ext == row.ext && r.scan == scan && r.known {
		if r.state != state {
			p.again(r, state)
		}
		return &r.token
	}
	if pos <= seen.far {
		for i := range uint(len(seen.list)) {
			at := (seen.last + i) % uint(len(seen.list))
			if r := &seen.list[at]; r.pos == pos && r.lex == row.lex && r.ext == row.ext && r.scan == scan && r.known {
				seen.last = at
				if r.state != state {
					p.again(r, state)
				}
				return &r.token
			}
		}
	}
	at := seen.turn % uint(len(seen.list))
	seen.turn++
	seen.last, seen.far = at, max(seen.far, pos)
	r := &seen.list[at]
	r.pos, r.lex, r.ext, r.scan, r.known = pos, row.lex, row.ext, scan, true
	before := p.steps
	p.scan(&r.token, state, row, pos, scan)
	r.state, r.cost = state, p.steps-before
	return &r.token
}

// again counts a token that another state gets as well. In a grammar that says of
// each state for itself what it wants of the scanner, it counts as if it had been made
// for that state alone.
func (p *parser) again(r *lexed, state uint32) {
	r.state = state
	if p.g.scanner != nil && len(p.g.externalStates) == 0 {
		p.steps += r.cost
	}
}

// scan makes the token at a place.
func (p *parser) scan(t *token, state uint32, row *stateRow, pos int, scan uint32) {
	*t = token{scan: scan}
	if row.lex == ^uint32(0) || row.lex == 0xffff {
		t.start, t.end, t.none = uint32(pos), uint32(pos), true
		return
	}
	size := uint32(len(p.src))
	if pos == 0 && len(p.src) >= 3 && string(p.src[:3]) == "\ufeff" {
		pos = 3
	}
	for {
		if row.valid != nil {
			if p.external(t, state, row.valid, pos, scan) {
				return
			}
		}
		for at := pos; ; {
			sym, start, end, ok, eof := p.run(&p.g.lexer, row.lex, at)
			if eof {
				t.start, t.end = size, size
				return
			}
			if ok && sym == 0 && end > at { // white space that is a token of its own
				at = end
				continue
			}
			if ok && sym != 0 {
				t.sym, t.start, t.end = sym, uint32(start), uint32(end)
				if sym == p.g.word {
					t.keyword = p.keywordIn(start, end)
				}
				return
			}
			break
		}
		if state == 0 {
			break
		}
		state, row = 0, p.g.row(0)
	}
	// Nothing knows what this is: take it character by character until
	// something does.
	start := pos
	for start < len(p.src) && isSpace(p.src[start]) {
		start++
	}
	end := start
	for end < len(p.src) {
		_, size := utf8.DecodeRune(p.src[end:])
		end += size
		if end >= len(p.src) || isSpace(p.src[end]) {
			break
		}
		if _, _, _, ok, _ := p.run(&p.g.lexer, row.lex, end); ok {
			break
		}
	}
	if start >= len(p.src) {
		t.start, t.end = size, size
		return
	}
	t.start, t.end, t.broken = uint32(start), uint32(end), true
}

func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' || b == '\v'
}

// keywordIn returns the keyword that a word is, 0 if it is none.
func (p *parser) keywordIn(from, to int) uint16 {
	if len(p.g.words.states) == 0 {
		return 0
	}
	sym, start, end, ok, _ := p.run(&p.g.words, 0, from)
	if ok && start == from && end == to {
		return sym
	}
	return 0
}
