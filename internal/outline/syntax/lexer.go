package syntax

import (
	"sync/atomic"
	"unicode/utf8"

	ts "github.com/odvcencio/gotreesitter"
)

// A token is the next piece of text as one state sees it.
type token struct {
	sym        uint16
	start, end int
	keyword    uint16 // what it is where that keyword may stand, 0 if it is none
	external   bool   // found by the language's scanner
	scan       string // what that scanner remembers behind it
	none       bool   // the state wants no token: what it has is complete
	broken     bool   // nothing that any state knows
}

// A lexTable is one state of a lexer by ASCII character, made when first needed.
type lexTable struct {
	ascii atomic.Pointer[[128]int32]
}

const (
	nowhere = -1
	skipBit = 1 << 30
)

func (t *lexTable) get(st *ts.LexState) *[128]int32 {
	if a := t.ascii.Load(); a != nil {
		return a
	}
	a := new([128]int32)
	for c := range a {
		a[c] = step(st, rune(c))
	}
	t.ascii.Store(a)
	return a
}

// step follows a transition: the next state, with skipBit if the character is
// not part of the token.
func step(st *ts.LexState, r rune) int32 {
	for i := range st.Transitions {
		if t := &st.Transitions[i]; r >= t.Lo && r <= t.Hi {
			if t.NextState < 0 {
				break
			}
			if t.Skip {
				return int32(t.NextState) | skipBit
			}
			return int32(t.NextState)
		}
	}
	if st.Default >= 0 {
		return int32(st.Default)
	}
	return nowhere
}

// run lets a lexer loose at pos. ok is false where it accepts nothing; eof says
// that only white space was left.
func (p *parser) run(states []ts.LexState, tables []lexTable, state uint32, pos int) (sym uint16, start, end int, ok, eof bool) {
	src, from := p.src, pos
	start = pos
	cur := int32(state)
	hops := 0
	for cur >= 0 && int(cur) < len(states) {
		st := &states[cur]
		if st.AcceptToken > 0 || st.Skip {
			sym, end, ok = uint16(st.AcceptToken), pos, true
		}
		if pos >= len(src) {
			if st.EOF >= 0 && hops <= len(states) {
				cur = int32(st.EOF)
				hops++
				continue
			}
			break
		}
		var next int32
		size := 1
		if b := src[pos]; b < utf8.RuneSelf {
			next = tables[cur].get(st)[b]
		} else {
			var r rune
			r, size = utf8.DecodeRune(src[pos:])
			next = step(st, r)
		}
		if next == nowhere {
			break
		}
		pos += size
		if next&skipBit != 0 {
			next &^= skipBit
			start, ok = pos, false
		}
		cur = next
	}
	p.steps += (pos - from) / 8
	return sym, start, end, ok, !ok && start >= len(src)
}

// lex returns the token at the top of a stack.
func (p *parser) lex(top *entry) token {
	return p.lexIn(top.state, top.pos, top.scan)
}

// lexIn returns the token at a place as a state sees it. A state that knows
// nothing of what stands there gets what the grammar as a whole knows.
func (p *parser) lexIn(state uint32, pos int, scan string) token {
	mode := &p.g.lang.LexModes[state]
	start := mode.LexStateIndex()
	// Where the external tokens come from the parse table, each state has its own.
	ext := uint32(mode.ExternalLexState)
	if p.g.scanner != nil && len(p.g.lang.ExternalLexStates) == 0 {
		ext = state + 1
	}
	for i := range p.recent {
		if r := &p.recent[i]; r.pos == pos && r.lex == start && r.ext == ext && r.known && r.scan == scan {
			return r.token
		}
	}
	r := &p.recent[p.turn%len(p.recent)]
	p.turn++
	*r = lexed{pos: pos, lex: start, ext: ext, known: true, scan: scan, token: p.scan(state, start, pos, scan)}
	return r.token
}

// A lexed token is remembered for the other readings at the same place.
type lexed struct {
	pos      int
	lex, ext uint32
	known    bool // there is one
	scan     string
	token    token
}

func (p *parser) scan(state, lexState uint32, pos int, scan string) token {
	lang := p.g.lang
	if lexState == ^uint32(0) || lexState == 0xffff {
		return token{start: pos, end: pos, scan: scan, none: true}
	}
	if pos == 0 && len(p.src) >= 3 && string(p.src[:3]) == "\ufeff" {
		pos = 3
	}
	for {
		if p.g.scanner != nil {
			if t, ok := p.external(state, pos, scan); ok {
				return t
			}
		}
		for at := pos; ; {
			sym, start, end, ok, eof := p.run(lang.LexStates, p.g.lexers, lexState, at)
			if eof {
				return token{start: len(p.src), end: len(p.src), scan: scan}
			}
			if ok && sym == 0 && end > at { // white space that is a token of its own
				at = end
				continue
			}
			if ok && sym != 0 {
				t := token{sym: sym, start: start, end: end, scan: scan}
				if sym == uint16(lang.KeywordCaptureToken) {
					t.keyword = p.keywordIn(start, end)
				}
				return t
			}
			break
		}
		if state == 0 {
			break
		}
		state, lexState = 0, lang.LexModes[0].LexStateIndex()
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
		if _, _, _, ok, _ := p.run(lang.LexStates, p.g.lexers, lexState, end); ok {
			break
		}
	}
	if start >= len(p.src) {
		return token{start: len(p.src), end: len(p.src), scan: scan}
	}
	return token{start: start, end: end, scan: scan, broken: true}
}

func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' || b == '\v'
}

// keywordIn returns the keyword that a word is, 0 if it is none.
func (p *parser) keywordIn(from, to int) uint16 {
	states := p.g.lang.KeywordLexStates
	if len(states) == 0 {
		return 0
	}
	sym, start, end, ok, _ := p.run(states, p.g.keyword, 0, from)
	if ok && start == from && end == to {
		return sym
	}
	return 0
}
