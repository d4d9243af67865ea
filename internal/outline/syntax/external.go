package syntax

import (
	"errors"
	"reflect"
	"slices"
	"sort"
	"sync"
	"unsafe"

	ts "github.com/odvcencio/gotreesitter"
)

// Scanners for what tables cannot say, such as Python's indentation, come with
// the grammars. They take a lexer that only the library's own parser can set on
// a place in a text and ask for its result. These are its fields, spelt again;
// checkExternalLexer holds them against the real ones before the first use, so a
// changed library costs us the outlines of some languages and nothing worse.
type externalLexer struct {
	source          []byte
	startPos        int
	pos             int
	endPos          int
	startPoint      ts.Point
	point           ts.Point
	endPoint        ts.Point
	endMarked       bool
	advancedContent bool
	resultSymbol    ts.Symbol
	hasResult       bool
}

var checkExternalLexer = sync.OnceValue(func() error {
	ours, theirs := reflect.TypeFor[externalLexer](), reflect.TypeFor[ts.ExternalLexer]()
	changed := errors.New("the grammar library's lexer has changed")
	if ours.NumField() != theirs.NumField() || ours.Size() != theirs.Size() {
		return changed
	}
	for i := range ours.NumField() {
		a, b := ours.Field(i), theirs.Field(i)
		if a.Name != b.Name || a.Type != b.Type || a.Offset != b.Offset {
			return changed
		}
	}
	return nil
})

// external asks the language's scanner for a token.
func (p *parser) external(state uint32, pos int, scan string) (token, bool) {
	valid := p.validExternals(state)
	if valid == nil {
		return token{}, false
	}
	if p.payload == nil {
		p.payload = p.g.scanner.Create()
	}
	// A scanner may write into what it is given.
	p.scanBuf = append(p.scanBuf[:0], scan...)
	p.g.scanner.Deserialize(p.payload, p.scanBuf)
	line := sort.SearchInts(p.lines, pos+1) - 1
	at := ts.Point{Row: uint32(line), Column: uint32(pos - p.lines[line])}
	p.lexer = externalLexer{source: p.src, startPos: pos, pos: pos, endPos: pos, startPoint: at, point: at, endPoint: at}
	// The layouts are the same: checkExternalLexer has been asked.
	lexer := (*ts.ExternalLexer)(unsafe.Pointer(&p.lexer))
	found := p.g.scanner.Scan(p.payload, lexer, valid)
	l := &p.lexer
	p.steps += 1 + (l.pos-pos)/8
	if !found || !l.hasResult {
		return token{}, false
	}
	// A scanner may answer with more than it was asked for; the tables would
	// not know what to do with it.
	if i := slices.Index(p.g.lang.ExternalSymbols, l.resultSymbol); i < 0 || !valid[i] {
		return token{}, false
	}
	t := token{sym: uint16(l.resultSymbol), start: l.startPos, end: l.endPos, external: true}
	if !l.endMarked {
		t.end = l.pos
	}
	if t.end < t.start { // the end was marked before white space that was skipped since
		t.start = t.end
	}
	if t.start < pos || t.end > len(p.src) {
		return token{}, false
	}
	n := p.g.scanner.Serialize(p.payload, p.serialized[:])
	t.scan = p.remember(p.serialized[:max(0, min(n, len(p.serialized)))])
	// An empty token that changes nothing would come again and again while a
	// broken text is being repaired.
	if state == 0 && t.end <= pos && t.scan == scan {
		return token{}, false
	}
	return t, true
}

// remember returns scanner states as strings, equal ones once.
func (p *parser) remember(b []byte) string {
	if string(b) == p.lastScan {
		return p.lastScan
	}
	p.lastScan = string(b)
	return p.lastScan
}

// validExternals returns which of the scanner's tokens a state has a use for,
// nil for none.
func (p *parser) validExternals(state uint32) []bool {
	lang := p.g.lang
	if len(lang.ExternalLexStates) > 0 {
		i := int(lang.LexModes[state].ExternalLexState)
		if i == 0 || i >= len(lang.ExternalLexStates) {
			return nil
		}
		return lang.ExternalLexStates[i]
	}
	if v, ok := p.valid[state]; ok {
		return v
	}
	var v []bool
	for i, sym := range lang.ExternalSymbols {
		if state == 0 || p.cell(state, uint16(sym)) != 0 {
			if v == nil {
				v = make([]bool, len(lang.ExternalSymbols))
			}
			v[i] = true
		}
	}
	p.valid[state] = v
	return v
}
