package syntax

import (
	"errors"
	"reflect"
	"slices"
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

// external asks the language's scanner for a token, and reports whether there is one.
func (p *parser) external(t *token, state uint32, valid []bool, pos int, scan uint32) bool {
	if p.payload == nil {
		p.payload = p.g.scanner.Create()
	}
	// A scanner may write into what it is given.
	p.scanBuf = append(p.scanBuf[:0], p.scans[scan]...)
	p.g.scanner.Deserialize(p.payload, p.scanBuf)
	at := p.point(pos)
	l := &p.lexer // whose source is the text
	l.startPos, l.pos, l.endPos = pos, pos, pos
	l.startPoint, l.point, l.endPoint = at, at, at
	l.endMarked, l.advancedContent, l.resultSymbol, l.hasResult = false, false, 0, false
	// The layouts are the same: checkExternalLexer has been asked.
	lexer := (*ts.ExternalLexer)(unsafe.Pointer(&p.lexer))
	found := p.g.scanner.Scan(p.payload, lexer, valid)
	p.steps += 1 + (l.pos-pos)/8
	if !found || !l.hasResult {
		return false
	}
	// A scanner may answer with more than it was asked for; the tables would
	// not know what to do with it.
	if i := slices.Index(p.g.externals, l.resultSymbol); i < 0 || !valid[i] {
		return false
	}
	start, end := l.startPos, l.endPos
	if !l.endMarked {
		end = l.pos
	}
	if end < start { // the end was marked before white space that was skipped since
		start = end
	}
	if start < pos || end > len(p.src) {
		return false
	}
	n := p.g.scanner.Serialize(p.payload, p.serialized[:])
	after := p.remember(p.serialized[:max(0, min(n, len(p.serialized)))])
	// An empty token that changes nothing would come again and again while a
	// broken text is being repaired.
	if state == 0 && end <= pos && after == scan {
		return false
	}
	t.sym, t.start, t.end, t.scan = uint16(l.resultSymbol), uint32(start), uint32(end), after
	return true
}

// scansKept is how many scanner states are known beyond a text; few have more.
const scansKept = 1 << 10

// remember returns the number of a scanner state.
func (p *parser) remember(b []byte) uint32 {
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

// point returns the line and column of a place, mostly near the last one.
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
