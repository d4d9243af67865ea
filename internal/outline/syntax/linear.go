package syntax

import "slices"

// Most of a text has one possible parse, and most tokens have one possible action. For these, the parser
// uses a linear stack: a slice on top of the shared entries. It converts the slice to entries only where
// there is a choice, a syntax error, or the end of the text. The tree and the number of steps are the same
// either way.

// A slot is an entry of a linear stack.
type slot struct {
	node  ref
	state uint32
	pos   uint32
	scan  uint32
}

// An undo records a slot that a reduction replaced.
type undo struct {
	at   int
	slot slot
}

// A linearStack is a stack in two parts: shared entries, and slots on top of them.
type linearStack struct {
	base  *entry
	slots []slot
	since int // tokens read since the last repair
	// height is the number of slots before the current token. undo has the slots below height that were
	// replaced since; the others are unchanged in the slice, even beyond its length.
	height int
	undo   []undo
}

// advanceLinear advances the only version until a token has more than one action. It returns the number of
// reductions that it has already made at that token, and whether a limit was reached.
func (p *parser) advanceLinear() (done int, limit bool) {
	s := &p.stack
	base := p.versions[0].top
	*s = linearStack{base: base, slots: s.slots[:0], undo: s.undo[:0], since: base.since}
	state := base.state
	pos := base.pos
	scan := base.scan
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

// entriesOf converts a linear stack to entries and returns the topmost one.
func (p *parser) entriesOf(s *linearStack) *entry {
	top := s.base
	for _, sl := range s.slots {
		top = p.push(top, sl.node, sl.state)
		top.pos = int(sl.pos)
		top.scan = sl.scan
		top.since = s.since
	}
	return top
}

// restoredTop returns the stack as it was before the token at which advanceLinear ended.
func (p *parser) restoredTop() *entry {
	p.stack.rewind()
	return p.entriesOf(&p.stack)
}

// reduceAll reduces until the next action is a shift. It returns the token, its symbol and the shift. The
// token is nil if there is a choice or no action. done is the number of reductions.
func (p *parser) reduceAll(s *linearStack, state uint32, pos int, scan uint32) (t *token, sym uint16, m *move, done int) {
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

// reduceSlots replaces the topmost slots with their parent. It returns the next state and the number of
// slots. The state is 0 if there is none, or if several paths lead down the stack.
func (p *parser) reduceSlots(s *linearStack, m *move, pos int, scan uint32, complete bool) (next uint32, size int) {
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
	// Comments after the last child stay outside the parent.
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

// unroll converts the topmost entry to a slot. It returns false if that entry has no node or several links
// down.
func (s *linearStack) unroll() bool {
	e := s.base
	if e.more != nil || e.node == 0 {
		return false
	}
	// The slots beyond the length of the slice may be needed by rewind.
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

// top returns the topmost state.
func (s *linearStack) top() uint32 {
	if n := len(s.slots); n > 0 {
		return s.slots[n-1].state
	}
	return s.base.state
}

// put pushes a slot. It records the slot that was there before the current token.
func (s *linearStack) put(sl slot) {
	if at := len(s.slots); at < s.height {
		s.undo = append(s.undo, undo{at, s.slots[:s.height][at]})
	}
	s.slots = append(s.slots, sl)
}

// rewind restores the stack as it was before the current token.
func (s *linearStack) rewind() {
	s.slots = s.slots[:s.height]
	for i := len(s.undo) - 1; i >= 0; i-- {
		s.slots[s.undo[i].at] = s.undo[i].slot
	}
}

// parentOf returns the parent of the nodes in slots. Without children, it is empty and at pos.
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
