package syntax

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	ts "github.com/odvcencio/gotreesitter"
)

// Encoded tables are a checksum of the rest, a header line, and the slices of [tables] in order. A slice is
// its length, then its elements. Numbers are little-endian, in the size of their type.

// libraryVersion is the version of the grammar library. Tables saved with another version are not used.
const libraryVersion = "v0.24.0"

// tablesFormat changes with the encoding, and with the data that tablesOf takes from the library.
const tablesFormat = 2

// tablesHeader identifies the format, the library version and the language of encoded tables.
func tablesHeader(name string) string {
	return "ken tables " + string(rune('0'+tablesFormat)) + " " + libraryVersion + " " + name + "\n"
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// append appends the encoded tables to out.
func (t *tables) append(out []byte) []byte {
	from := len(out)
	out = append(append(out, 0, 0, 0, 0), tablesHeader(t.name)...)
	out = appendStrings(appendStrings(out, t.names), t.fields)
	out = appendBools(appendBools(out, t.visible), t.named)
	out = appendNumbers(out, []uint32{uint32(t.symbols), t.tokens, t.initial, uint32(t.word)})
	modes := make([]uint32, 0, 2*len(t.modes))
	for _, m := range t.modes {
		modes = append(modes, m.lex, m.ext)
	}
	out = appendNumbers(appendNumbers(out, modes), t.rowAt)
	out = appendShort(out, t.cells)
	out = appendNumbers(out, t.entryAt)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(t.actions)))
	for _, a := range t.actions {
		out = append(out, byte(a.Type), a.ChildCount, flags(a.Extra, a.ExtraChain, a.Repetition))
		out = binary.LittleEndian.AppendUint32(out, uint32(a.State))
		for _, n := range []uint16{uint16(a.Symbol), uint16(a.DynamicPrecedence), a.ProductionID} {
			out = binary.LittleEndian.AppendUint16(out, n)
		}
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(len(t.prods)))
	for _, p := range t.prods {
		roles := make([]uint16, 0, 2*len(p.children))
		for _, c := range p.children {
			roles = append(roles, c.alias, c.field)
		}
		out = appendShort(out, roles)
	}
	for _, l := range []lexStates{t.lexers, t.keyword} {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(l.states)))
		for _, s := range l.states {
			out = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out, s.from), s.to)
			for _, n := range []uint16{uint16(s.rest), uint16(s.eof), s.sym} {
				out = binary.LittleEndian.AppendUint16(out, n)
			}
			out = append(out, flags(s.accepts))
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(len(l.transitions)))
		out = appendTransitions(out, l.transitions)
	}
	externals := make([]uint16, len(t.externals))
	for i, s := range t.externals {
		externals[i] = uint16(s)
	}
	out = appendShort(out, externals)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(t.externalStates)))
	for _, valid := range t.externalStates {
		out = appendBools(out, valid)
	}
	binary.LittleEndian.PutUint32(out[from:], checksum(out[from+4:]))
	return out
}

func appendStrings(out []byte, list []string) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(list)))
	for _, s := range list {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...)
	}
	return out
}

func appendBools(out []byte, list []bool) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(list)))
	for _, b := range list {
		out = append(out, flags(b))
	}
	return out
}

func appendNumbers(out []byte, list []uint32) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(list)))
	for _, n := range list {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

func appendShort(out []byte, list []uint16) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(list)))
	for _, n := range list {
		out = binary.LittleEndian.AppendUint16(out, n)
	}
	return out
}

func appendTransitions(out []byte, list []transition) []byte {
	for _, t := range list {
		out = binary.LittleEndian.AppendUint32(out, uint32(t.lo))
		out = binary.LittleEndian.AppendUint32(out, uint32(t.hi))
		out = binary.LittleEndian.AppendUint16(out, uint16(t.next))
	}
	return out
}

// flags packs booleans into a byte, the first one in the lowest bit.
func flags(bits ...bool) (b byte) {
	for i, set := range bits {
		if set {
			b |= 1 << i
		}
	}
	return b
}

// decodeTables decodes the result of append. It returns nil if the data is damaged or has another header.
// The tables that it returns are safe to parse with: every index in them is in range.
func decodeTables(name string, b []byte) *tables {
	head := tablesHeader(name)
	if len(b) < 4+len(head) || string(b[4:4+len(head)]) != head || binary.LittleEndian.Uint32(b) != checksum(b[4:]) {
		return nil
	}
	r := &tableReader{rest: b[4+len(head):]}
	t := &tables{name: name, names: r.strings(), fields: r.strings(), visible: r.bools(), named: r.bools()}
	if some := r.numbers(); len(some) == 4 {
		t.symbols = int(some[0])
		t.tokens = some[1]
		t.initial = some[2]
		t.word = uint16(some[3])
	}
	modes := r.numbers()
	t.modes = make([]lexMode, len(modes)/2)
	for i := range t.modes {
		t.modes[i] = lexMode{modes[2*i], modes[2*i+1]}
	}
	t.rowAt = r.numbers()
	t.cells = r.short()
	t.entryAt = r.numbers()
	t.actions = make([]ts.ParseAction, r.size(13))
	for i := range t.actions {
		a := r.take(13)
		t.actions[i] = ts.ParseAction{
			Type: ts.ParseActionType(a[0]), ChildCount: a[1], Extra: a[2]&1 != 0, ExtraChain: a[2]&2 != 0, Repetition: a[2]&4 != 0,
			State: ts.StateID(binary.LittleEndian.Uint32(a[3:])), Symbol: ts.Symbol(binary.LittleEndian.Uint16(a[7:])),
			DynamicPrecedence: int16(binary.LittleEndian.Uint16(a[9:])), ProductionID: binary.LittleEndian.Uint16(a[11:]),
		}
	}
	t.prods = make([]production, r.size(4))
	for i := range t.prods {
		roles := r.short()
		for k := 0; k+1 < len(roles); k += 2 {
			t.prods[i].children = append(t.prods[i].children, childRole{roles[k], roles[k+1]})
		}
	}
	t.lexers, t.keyword = r.lexStates(), r.lexStates()
	for _, sym := range r.short() {
		t.externals = append(t.externals, ts.Symbol(sym))
	}
	if n := r.size(4); n > 0 {
		t.externalStates = make([][]bool, n)
		for i := range t.externalStates {
			t.externalStates[i] = r.bools()
		}
	}
	if r.bad || len(r.rest) > 0 || !t.consistent() {
		return nil
	}
	return t
}

// consistent reports whether every index in the tables is in range.
func (t *tables) consistent() bool {
	states := len(t.modes)
	symbol := func(sym uint16) bool { return int(sym) < len(t.names) }
	if len(t.rowAt) != states || states == 0 || int(t.initial) >= states || t.initial == 0 || len(t.cells) == 0 || len(t.entryAt) == 0 ||
		t.tokens == 0 || int(t.tokens) > len(t.names) || t.symbols > 1<<16 || len(t.names) > t.symbols || len(t.visible) > len(t.names) {
		return false
	}
	for _, m := range t.modes {
		if int(m.lex) >= len(t.lexers.states) && m.lex != ^uint32(0) && m.lex != 0xffff {
			return false
		}
	}
	entries := len(t.entryAt) - 1
	if int(t.entryAt[entries]) != len(t.actions) || !slices.IsSorted(t.entryAt) {
		return false
	}
	for _, at := range t.rowAt {
		if !t.consistentRow(at, entries) {
			return false
		}
	}
	for _, a := range t.actions {
		if int(a.State) >= states || a.Type == ts.ParseActionReduce && !symbol(uint16(a.Symbol)) {
			return false
		}
	}
	for _, p := range t.prods {
		for _, c := range p.children {
			if !symbol(c.alias) {
				return false
			}
		}
	}
	for _, sym := range t.externals {
		if uint32(sym) >= t.tokens {
			return false
		}
	}
	for _, valid := range t.externalStates {
		if len(valid) != len(t.externals) {
			return false
		}
	}
	return t.lexers.consistent(t.tokens) && t.keyword.consistent(t.tokens)
}

// consistentRow reports whether a compressed row is complete and its values are in range.
func (t *tables) consistentRow(at uint32, entries int) bool {
	if int(at) >= len(t.cells) {
		return false
	}
	row := t.cells[at:]
	groups := int(row[0])
	row = row[1:]
	for range groups {
		if len(row) < 2 || len(row) < 2+int(row[1]) {
			return false
		}
		value := int(row[0])
		for _, sym := range row[2 : 2+int(row[1])] {
			if uint32(sym) < t.tokens && value >= entries || uint32(sym) >= t.tokens && value >= len(t.modes) {
				return false
			}
		}
		row = row[2+int(row[1]):]
	}
	return true
}

func (l *lexStates) consistent(tokens uint32) bool {
	if len(l.states) > maxLexStates {
		return false
	}
	state := func(s int16) bool { return s >= noState && int(s) < len(l.states) }
	for i := range l.states {
		s := &l.states[i]
		if s.from > s.to || int(s.to) > len(l.transitions) || !state(s.rest) || !state(s.eof) || uint32(s.sym) >= tokens {
			return false
		}
	}
	for i := range l.transitions {
		t := &l.transitions[i]
		if t.lo < 0 || t.next < noState || t.next >= 0 && !state(t.next&^skipBit) {
			return false
		}
	}
	return true
}

// A tableReader decodes values. After the end of the data it returns zeros and sets bad.
type tableReader struct {
	rest []byte
	bad  bool
}

func (r *tableReader) take(n int) []byte {
	if n > len(r.rest) {
		r.bad, r.rest = true, nil
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// size reads the length of a slice whose elements have at least the given number of bytes each.
func (r *tableReader) size(each int) int {
	n := int(binary.LittleEndian.Uint32(r.take(4)))
	if n < 0 || n > len(r.rest)/each {
		r.bad, r.rest = true, nil
		return 0
	}
	return n
}

func (r *tableReader) strings() []string {
	list := make([]string, r.size(4))
	for i := range list {
		list[i] = string(r.take(r.size(1)))
	}
	return list
}

func (r *tableReader) bools() []bool {
	list := make([]bool, r.size(1))
	for i, b := range r.take(len(list)) {
		list[i] = b != 0
	}
	return list
}

func (r *tableReader) numbers() []uint32 {
	list := make([]uint32, r.size(4))
	b := r.take(4 * len(list))
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return list
}

func (r *tableReader) short() []uint16 {
	list := make([]uint16, r.size(2))
	b := r.take(2 * len(list))
	for i := range list {
		list[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return list
}

func (r *tableReader) lexStates() lexStates {
	l := lexStates{states: make([]lexState, r.size(15))}
	for i := range l.states {
		b := r.take(15)
		l.states[i] = lexState{
			from: binary.LittleEndian.Uint32(b), to: binary.LittleEndian.Uint32(b[4:]),
			rest: int16(binary.LittleEndian.Uint16(b[8:])), eof: int16(binary.LittleEndian.Uint16(b[10:])),
			sym: binary.LittleEndian.Uint16(b[12:]), accepts: b[14] != 0,
		}
	}
	l.transitions = make([]transition, r.size(10))
	for i := range l.transitions {
		b := r.take(10)
		l.transitions[i] = transition{
			lo: rune(binary.LittleEndian.Uint32(b)), hi: rune(binary.LittleEndian.Uint32(b[4:])), next: int16(binary.LittleEndian.Uint16(b[8:])),
		}
	}
	return l
}
