package syntax

import (
	"sync/atomic"
	"unicode/utf8"
)

// A token is the next token of the text for one parser state.
type token struct {
	start, end uint32
	scan       uint32 // number of the scanner state after the token
	sym        uint16
	keyword    uint16 // its symbol where the grammar allows it as a keyword, 0 if it is no keyword
	none       bool   // the state takes no token: its node is complete
	broken     bool   // no state has a token for this text
}

// A lexTable is a lexer. Its rows are computed when they are first needed.
type lexTable struct {
	lexStates

	rows []atomic.Pointer[lexRow]
}

// A lexRow is one lexer state in expanded form.
type lexRow struct {
	ascii   [utf8.RuneSelf]int16 // next state by character, as in step
	accepts bool                 // the characters read so far are a token
	sym     uint16               // symbol of that token
}

// A next state has skipBit set if the character is not part of the token. noState means that there is no
// transition.
const (
	noState      = -1
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
				if tr.next != noState {
					r.ascii[c] = tr.next
				}
			}
		}
	}
	t.rows[state].Store(r)
	return r
}

// step returns the next state, with skipBit set if the character is not part of the token.
func (t *lexTable) step(state int16, r rune) int16 {
	st := &t.states[state]
	for i := st.from; i < st.to; i++ {
		if tr := &t.transitions[i]; r >= tr.lo && r <= tr.hi {
			if tr.next == noState {
				break
			}
			return tr.next
		}
	}
	return st.rest
}

// runLexer runs a lexer from pos. ok is false if it accepts nothing. eof is true if only white space was
// left.
func (p *parser) runLexer(table *lexTable, state uint32, pos int) (sym uint16, start, end int, ok, eof bool) {
	src, from := p.src, pos
	start = pos
	cur := int16(state)
	hops := 0
	for cur >= 0 && int(cur) < len(table.rows) {
		row := table.rows[cur].Load()
		if row == nil {
			row = table.newRow(cur)
		}
		// Skip runs of characters that stay in the same state: white space, words, comments.
		for pos < len(src) && src[pos] < utf8.RuneSelf && row.ascii[src[pos]] == cur {
			pos++
		}
		if row.accepts {
			sym = row.sym
			end = pos
			ok = true
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
			if next == noState {
				break
			}
			pos++
		} else {
			r, size := utf8.DecodeRune(src[pos:])
			if next = table.step(cur, r); next == noState {
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

// lex returns the next token after the top of a stack.
func (p *parser) lex(top *entry) token {
	return *p.lexIn(top.state, top.pos, top.scan)
}

// lexedTokens caches the last tokens, for other states and versions at the same position.
type lexedTokens struct {
	list [8]lexed
	turn uint // tokens lexed so far; the next one replaces the oldest
	last uint // the token returned last
	far  int  // highest position lexed so far
}

type lexed struct {
	token    token
	pos      int
	lex, ext uint32
	scan     uint32
	known    bool   // the fields are set
	state    uint32 // the state that requested it last
	cost     int    // in steps
}

// lexIn returns the token at a position for a parser state. The result is valid until the next call. If the
// state has no token there, lexIn returns the token of any state of the grammar.
func (p *parser) lexIn(state uint32, pos int, scan uint32) *token {
	return p.lexAs(state, p.g.row(state), pos, scan)
}

func (p *parser) lexAs(state uint32, row *stateRow, pos int, scan uint32) *token {
	seen := &p.recent
	// During a series of reductions, several states request the same token.
	if r := &seen.list[seen.last%uint(len(seen.list))]; r.pos == pos && r.lex == row.lex && r.ext == row.ext && r.scan == scan && r.known {
		if r.state != state {
			p.reuse(r, state)
		}
		return &r.token
	}
	if pos <= seen.far {
		for i := range uint(len(seen.list)) {
			at := (seen.last + i) % uint(len(seen.list))
			if r := &seen.list[at]; r.pos == pos && r.lex == row.lex && r.ext == row.ext && r.scan == scan && r.known {
				seen.last = at
				if r.state != state {
					p.reuse(r, state)
				}
				return &r.token
			}
		}
	}
	at := seen.turn % uint(len(seen.list))
	seen.turn++
	seen.last, seen.far = at, max(seen.far, pos)
	r := &seen.list[at]
	r.pos = pos
	r.lex = row.lex
	r.ext = row.ext
	r.scan = scan
	r.known = true
	before := p.steps
	p.scan(&r.token, state, row, pos, scan)
	r.state, r.cost = state, p.steps-before
	return &r.token
}

// reuse counts the steps of a cached token that another state requests. If the grammar computes the set of
// external tokens for each state, the token costs as much as if it had been lexed for that state alone.
func (p *parser) reuse(r *lexed, state uint32) {
	r.state = state
	if p.g.scanner != nil && len(p.g.externalStates) == 0 {
		p.steps += r.cost
	}
}

// scan lexes the token at a position.
func (p *parser) scan(t *token, state uint32, row *stateRow, pos int, scan uint32) {
	*t = token{scan: scan}
	if row.lex == ^uint32(0) || row.lex == 0xffff {
		t.start = uint32(pos)
		t.end = uint32(pos)
		t.none = true
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
			sym, start, end, ok, eof := p.runLexer(&p.g.lexer, row.lex, at)
			if eof {
				t.start, t.end = size, size
				return
			}
			if ok && sym == 0 && end > at { // white space that is a token of its own
				at = end
				continue
			}
			if ok && sym != 0 {
				t.sym = sym
				t.start = uint32(start)
				t.end = uint32(end)
				if sym == p.g.word {
					t.keyword = p.keywordAt(start, end)
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
	// No lexer accepts this text. Skip characters until one does.
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
		if _, _, _, ok, _ := p.runLexer(&p.g.lexer, row.lex, end); ok {
			break
		}
	}
	if start >= len(p.src) {
		t.start, t.end = size, size
		return
	}
	t.start = uint32(start)
	t.end = uint32(end)
	t.broken = true
}

func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' || b == '\v'
}

// keywordAt returns the symbol of the keyword between two offsets, or 0 if that text is no keyword.
func (p *parser) keywordAt(from, to int) uint16 {
	if len(p.g.words.states) == 0 {
		return 0
	}
	sym, start, end, ok, _ := p.runLexer(&p.g.words, 0, from)
	if ok && start == from && end == to {
		return sym
	}
	return 0
}
