package syntax

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	ts "github.com/odvcencio/gotreesitter"
)

// externalLexer has the same fields as the library's ExternalLexer. The library's scanners, such as the one
// for Python's indentation, need such a lexer, but only the library's own parser can set its position and
// read its result. checkExternalLexer compares both types before the first use. If the library changes, the
// languages with a scanner have no outlines.
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

// external runs the language's scanner. It reports whether the scanner found a token.
func (p *parser) external(t *token, state uint32, valid []bool, pos int, scan uint32) bool {
	if p.payload == nil {
		p.payload = p.g.scanner.Create()
	}
	// The scanner may modify its input.
	p.scanBuf = append(p.scanBuf[:0], p.scans[scan]...)
	p.g.scanner.Deserialize(p.payload, p.scanBuf)
	at := p.point(pos)
	l := &p.lexer // its source is already set
	l.startPos = pos
	l.pos = pos
	l.endPos = pos
	l.startPoint = at
	l.point = at
	l.endPoint = at
	l.endMarked = false
	l.advancedContent = false
	l.resultSymbol = 0
	l.hasResult = false
	// checkExternalLexer has verified that both types have the same layout.
	lexer := (*ts.ExternalLexer)(unsafe.Pointer(&p.lexer))
	found := p.g.scanner.Scan(p.payload, lexer, valid)
	p.steps += 1 + (l.pos-pos)/8
	if !found || !l.hasResult {
		return false
	}
	// A scanner may return a token that is not valid in this state. The tables have no action for it.
	if i := slices.Index(p.g.externals, l.resultSymbol); i < 0 || !valid[i] {
		return false
	}
	start, end := l.startPos, l.endPos
	if !l.endMarked {
		end = l.pos
	}
	if end < start { // the end was marked before skipped white space
		start = end
	}
	if start < pos || end > len(p.src) {
		return false
	}
	n := p.g.scanner.Serialize(p.payload, p.serialized[:])
	after := p.scanID(p.serialized[:max(0, min(n, len(p.serialized)))])
	// While a syntax error is repaired, an empty token that leaves the scanner's state unchanged would be
	// found again and again.
	if state == 0 && end <= pos && after == scan {
		return false
	}
	t.sym = uint16(l.resultSymbol)
	t.start = uint32(start)
	t.end = uint32(end)
	t.scan = after
	return true
}

// maxKeptScans limits the scanner states that a parser keeps for the next text. Few texts have more.
const maxKeptScans = 1 << 10

// scanID returns the number of a serialized scanner state.
func (p *parser) scanID(b []byte) uint32 {
	if string(b) == p.scans[p.lastScan] {
		return p.lastScan
	}
	id, ok := p.scanIDs[string(b)]
	if !ok {
		id = uint32(len(p.scans))
		p.scans = append(p.scans, string(b))
		p.scanIDs[p.scans[id]] = id
	}
	p.lastScan = id
	return id
}

// point returns the line and column of an offset. Most calls are near the previous one.
func (p *parser) point(pos int) ts.Point {
	if p.line >= len(p.lines) || pos < p.lines[p.line] {
		line, found := slices.BinarySearch(p.lines, pos)
		if !found {
			line--
		}
		p.line = line
	}
	for p.line+1 < len(p.lines) && p.lines[p.line+1] <= pos {
		p.line++
	}
	return ts.Point{Row: uint32(p.line), Column: uint32(pos - p.lines[p.line])}
}
