package syntax

import "slices"

// Nearly all of a text has one reading, and nearly every token of it leaves one
// thing to do. Over these the parser goes straight: its stack is a list, on top of
// the entries that were there, and entries are made of it only where there is a
// choice, something broken, or the end. What comes of it, and what it counts as
// steps, is the same either way.

// A slot is an entry that only one reading knows.
type slot struct {
	node  ref
	state uint32
	pos   uint32
	scan  uint32
}

// An undo is a slot that a reduction took the place of.
type undo struct {
	at   int
	slot slot
}

// A straightStack is a stack in two parts: entries, and slots on top of them.
type straightStack struct {
	base  *entry
	slots []slot
	since int // tokens read since the last repair
	// Of the token being looked at: how many slots there were before it, and what
	// stood in those that were used again since. Behind them, the others are still
	// there.
	height int
	undo   []undo
}

// straight takes the only reading as far as it goes without a choice. At a token that
// is to be looked at with care it returns how much it has done there already.
func (p *parser) straight() (done int, limit bool) {
	s := &p.stack
	base := p.versions[0].top
	*s = straightStack{base: base, slots: s.slots[:0], undo: s.undo[:0], since: base.since}
	state, pos, scan := base.state, base.pos, base.scan
	for {
		if p.steps > p.limit || s.base.depth+len(s.slots) > maxStack {
			p.versions[0].top = p.entriesOf(s)
			return 0, true
		}
		s.height, s.undo = len(s.slots), s.undo[:0]
		t, sym, m, done := p.reduceAll(s, state, pos, scan)
		if t == nil {
			p.versions[0].top = p.entriesOf(s)
			return done, false
		}
		n := node{sym: sym, start: t.start, end: t.end}
		if m.extra {
			n.flags = isExtra
			state = s.top()
		} else {
			state = m.state
		}
		pos, scan = int(t.end), t.scan
		s.since++
		s.slots = append(s.slots, slot{p.add(n), state, t.end, t.scan})
	}
}

// entriesOf makes entries of a stack, and returns the topmost.
func (p *parser) entriesOf(s *straightStack) *entry {
	top := s.base
	for _, sl := range s.slots {
		top = p.push(top, sl.node, sl.state)
		top.pos, top.scan, top.since = int(sl.pos), sl.scan, s.since
	}
	return top
}

// rewound returns the stack as it was before the token at which straight ended.
func (p *parser) rewound() *entry {
	p.stack.rewind()
	return p.entriesOf(&p.stack)
}

// reduceAll reduces until the next token is to be shifted, and returns that token, as
// which symbol it is, and the shift; no token where there is a choice, or nothing to do.
// done says how often it has reduced.
func (p *parser) reduceAll(s *straightStack, state uint32, pos int, scan uint32) (t *token, sym uint16, m *move, done int) {
	for done < maxForks {
		row := p.g.row(state)
		t = p.lexAs(state, row, pos, scan)
		if t.broken {
			break
		}
		if sym = t.keyword; sym != 0 {
			m = &p.g.moves[row.cell(sym)]
		}
		if sym == 0 || m.kind == noMove {
			sym = t.sym
			m = &p.g.moves[row.cell(sym)]
		}
		if m.kind == shiftMove && !t.none {
			p.steps++
			return t, sym, m, done
		}
		if m.kind != reduceMove {
			break
		}
		next, size := p.reduceSlots(s, m, pos, scan, t.none)
		if next == 0 {
			break
		}
		p.steps += 1 + size/4
		state = next
		done++
	}
	return nil, 0, nil, done
}

// reduceSlots puts one node for the topmost ones, and returns the state behind it and
// how many they were; 0 where there is none, or more than one way down.
func (p *parser) reduceSlots(s *straightStack, m *move, pos int, scan uint32, complete bool) (next uint32, size int) {
	from := len(s.slots)
	for want := m.children; want > 0; {
		if from == 0 {
			if !s.unroll() {
				return 0, 0
			}
			from++
		}
		from--
		if !p.extra(s.slots[from].node) {
			want--
		}
	}
	below, belowScan := s.base.state, s.base.scan
	if from > 0 {
		below, belowScan = s.slots[from-1].state, s.slots[from-1].scan
	}
	if next = p.next(below, m.sym); next == 0 {
		return 0, 0
	}
	size = len(s.slots) - from
	// Comments behind it stay behind it.
	last := len(s.slots)
	for last > from && p.extra(s.slots[last-1].node) {
		last--
	}
	n := p.parentOf(m, s.slots[from:last], pos)
	if complete && next == below {
		p.nodes[n].flags |= isExtra
	}
	trailing := s.slots[last:]
	s.slots = s.slots[:from]
	if len(trailing) == 0 {
		s.put(slot{n, next, uint32(pos), scan})
		return next, size
	}
	s.put(slot{n, next, uint32(pos), belowScan})
	for i, c := range trailing {
		if i == len(trailing)-1 {
			belowScan = scan
		}
		s.put(slot{c.node, next, uint32(pos), belowScan})
	}
	return next, size
}

// unroll makes a slot of the topmost entry, and reports whether that is one with a
// node and a single way down.
func (s *straightStack) unroll() bool {
	e := s.base
	if e.more != nil || e.node == 0 {
		return false
	}
	// What a rewind needs may lie behind the slots in use.
	used := len(s.slots)
	all := slices.Insert(s.slots[:max(used, s.height)], 0, slot{e.node, e.state, uint32(e.pos), e.scan})
	s.slots = all[:used+1]
	for i := range s.undo {
		s.undo[i].at++
	}
	s.height++
	s.base = e.prev
	return true
}

// top is the state on top.
func (s *straightStack) top() uint32 {
	if n := len(s.slots); n > 0 {
		return s.slots[n-1].state
	}
	return s.base.state
}

// put puts a slot on top, and notes what stood there before this token.
func (s *straightStack) put(sl slot) {
	if at := len(s.slots); at < s.height {
		s.undo = append(s.undo, undo{at, s.slots[:s.height][at]})
	}
	s.slots = append(s.slots, sl)
}

// rewind makes the stack what it was before the token.
func (s *straightStack) rewind() {
	s.slots = s.slots[:s.height]
	for i := len(s.undo) - 1; i >= 0; i-- {
		s.slots[s.undo[i].at] = s.undo[i].slot
	}
}

// parentOf makes a node of slots. One without children stands at pos.
func (p *parser) parentOf(m *move, slots []slot, pos int) ref {
	n := node{
		sym: m.sym, prod: m.prod, start: uint32(pos), end: uint32(pos), prec: int32(m.prec),
		first: uint32(len(p.children)), count: uint32(len(slots)),
	}
	for i := range slots {
		c := &p.nodes[slots[i].node]
		if i == 0 {
			n.start, n.end = c.start, c.end
		}
		n.end = max(n.end, c.end)
		n.prec += c.prec
		n.cost += c.cost
		p.children = append(p.children, slots[i].node)
	}
	return p.add(n)
}
