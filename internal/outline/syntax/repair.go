package syntax

import (
	"slices"

	ts "github.com/odvcencio/gotreesitter"
)

// Costs of repairs. Of several ways to recover from a syntax error, the cheapest one wins that can parse the
// text after it.
const (
	costRepair  = 500 // each
	costMissing = 110 // an inserted token
	costTree    = 100 // each skipped node
	costLine    = 30
	costByte    = 1
)

// Limits of one repair.
const (
	maxUnwind  = 400 // stack entries to unwind
	maxResumes = 3   // places to resume at one token
	maxTried   = 12  // stacks to try, see completions
	maxSkipped = 64  // skipped nodes, before they are joined into one
)

// repair is called when all versions are paused. It takes the best one and continues it in several ways:
// with an inserted token, or by skipping text.
func (p *parser) repair() {
	best := p.versions[0]
	for _, v := range p.versions[1:] {
		if v.top.cost < best.top.cost || v.top.cost == best.top.cost && v.top.pos > best.top.pos {
			best = v
		}
	}
	p.versions = p.versions[:0]
	top := best.top
	if p.emptyCollection(top) {
		return
	}
	p.repairs++
	if p.repairs > maxRepairs {
		p.giveUp(top)
		return
	}
	for _, e := range p.completions(top) {
		p.insertToken(e)
	}
	p.versions = append(p.versions, version{top: top, broken: true})
}

// completions returns the stack and the stacks that it can be reduced to, regardless of the next token.
func (p *parser) completions(top *entry) []*entry {
	out := []*entry{top}
	for i := 0; i < len(out) && len(out) < maxTried; i++ {
		e := out[i]
		p.steps += int(p.g.tokens) / 4
		var seen []ts.ParseAction
		for sym := uint16(1); uint32(sym) < p.g.tokens; sym++ {
			for _, act := range p.actions(e.state, sym) {
				if act.Type != ts.ParseActionReduce || act.ChildCount == 0 || slices.Contains(seen, act) {
					continue
				}
				seen = append(seen, act)
				p.work = p.work[:0]
				p.reduce(e, act, false)
				for _, next := range p.work {
					if !slices.ContainsFunc(out, func(o *entry) bool { return o.state == next.state && o.depth == next.depth }) {
						out = append(out, next)
					}
				}
			}
		}
	}
	return out
}

// insertToken continues with a token that the text lacks, if that token allows a reduction.
func (p *parser) insertToken(top *entry) {
	next := *p.lexIn(0, top.pos, top.scan)
	p.steps += int(p.g.tokens) / 4
	for sym := uint16(1); uint32(sym) < p.g.tokens; sym++ {
		state := p.next(top.state, sym)
		if state == 0 || state == top.state || !p.mightAccept(state, &next) {
			continue
		}
		p.steps++
		t := *p.lexIn(state, top.pos, top.scan)
		acts, _ := p.actionsAt(state, &t)
		if len(acts) == 0 || acts[0].Type != ts.ParseActionReduce {
			continue
		}
		n := p.add(node{sym: sym, start: uint32(top.pos), end: uint32(top.pos), flags: isMissing, cost: costMissing + costRepair})
		e := p.push(top, n, state)
		e.since = 0
		p.versions = append(p.versions, version{top: e})
		return
	}
}

// skip moves a broken version past one token. For every state down the stack that accepts the token, it adds
// a version that resumes there. The version itself skips the token.
func (p *parser) skip(i int) {
	v := p.versions[i]
	t := *p.lexIn(0, v.top.pos, v.top.scan)
	if t.sym == 0 && !t.broken && int(t.start) >= len(p.src) || t.none {
		p.giveUp(v.top, v.skipped...)
		p.versions = slices.Delete(p.versions, i, i+1)
		return
	}
	// A token that begins a line most likely continues after a node that began a line at the same column.
	column, begins := p.indent(int(t.start))
	resumes, unwound := 0, 0
	for e, above := v.top, (*entry)(nil); e != nil && unwound <= maxUnwind; e, above, unwound = e.prev, e, unwound+1 {
		p.steps++
		aligned := false
		if begins && above != nil {
			c, first := p.indent(int(p.nodes[above.node].start))
			aligned = first && c == column
		}
		if unwound == 0 && len(v.skipped) == 0 || resumes >= maxResumes && !aligned || !p.accepts(e.state, v.top, &t) {
			continue
		}
		n := p.errorNode(v.top, e, v.skipped)
		if aligned {
			p.nodes[n].cost = costRepair
		}
		next := p.push(e, n, e.state)
		next.pos = v.top.pos
		next.scan = v.top.scan
		next.since = 0
		p.versions = append(p.versions, version{top: next})
		resumes++
		if aligned {
			break
		}
	}
	// Skip the token. The stack stays the same; its position moves on.
	n := node{sym: t.sym, start: t.start, end: t.end}
	if t.broken {
		n.sym = errorSym
	}
	moved := p.newEntry()
	*moved = *v.top
	moved.pos = max(int(t.end), v.top.pos)
	moved.scan = t.scan
	moved.since = 0
	moved.cost += costTree + costByte*int(t.end-t.start) + costLine*p.linesIn(int(t.start), int(t.end))
	if len(v.skipped) == 0 {
		moved.cost += costRepair
	}
	if int(t.end) <= v.top.pos && t.scan == v.top.scan { // an empty token would be lexed forever
		moved.pos = min(len(p.src), v.top.pos+1)
	}
	skipped := append(slices.Clip(v.skipped), p.add(n))
	if len(skipped) >= maxSkipped {
		p.scratch = append(p.scratch[:0], skipped...)
		slices.Reverse(p.scratch)
		skipped = []ref{p.parent(errorSym, 0, p.scratch, moved.pos)}
	}
	p.versions[i] = version{top: moved, broken: true, skipped: skipped}
}

// indent returns the column of an offset, and whether only white space precedes it on its line.
func (p *parser) indent(pos int) (column int, first bool) {
	line, found := slices.BinarySearch(p.lines, pos)
	if !found {
		line--
	}
	for _, b := range p.src[p.lines[line]:pos] {
		if b != ' ' && b != '\t' {
			return 0, false
		}
	}
	return pos - p.lines[line], true
}

// linesIn counts the line breaks between two offsets.
func (p *parser) linesIn(start, end int) int {
	a, _ := slices.BinarySearch(p.lines, start+1)
	b, _ := slices.BinarySearch(p.lines, end+1)
	return b - a
}

// mightAccept reports whether a state has an action for the token t. It does not lex the token again for
// that state.
func (p *parser) mightAccept(state uint32, t *token) bool {
	return !t.broken && (p.cell(state, t.sym) != 0 || t.keyword != 0 && p.cell(state, t.keyword) != 0)
}

// accepts reports whether a state has an action for the token t.
func (p *parser) accepts(state uint32, top *entry, t *token) bool {
	if !p.mightAccept(state, t) {
		return false
	}
	p.steps++
	own := *p.lexIn(state, top.pos, top.scan)
	acts, _ := p.actionsAt(state, &own)
	return len(acts) > 0 && own.start == t.start && own.end == t.end
}

// errorNode returns an ERROR node of everything above the entry below, and of the skipped nodes.
func (p *parser) errorNode(top, below *entry, skipped []ref) ref {
	p.scratch = append(p.scratch[:0], skipped...)
	slices.Reverse(p.scratch)
	for e := top; e != below && e.node != 0; e = e.prev {
		p.scratch = append(p.scratch, e.node)
	}
	r := p.parent(errorSym, 0, p.scratch, top.pos)
	p.steps += len(p.scratch) / 4
	n := &p.nodes[r]
	n.flags |= isExtra
	n.cost += int32(costRepair + costTree*len(p.scratch) + costByte*int(n.end-n.start) + costLine*p.linesIn(int(n.start), int(n.end)))
	return r
}

// stop ends a parse that has reached a limit. The tree is that of the best version.
func (p *parser) stop(i int) {
	best := max(i, 0)
	for j, v := range p.versions {
		if b := p.versions[best]; v.top.cost < b.top.cost || v.top.cost == b.top.cost && v.top.pos > b.top.pos {
			best = j
		}
	}
	v := p.versions[best]
	p.tree = 0
	p.giveUp(v.top, v.skipped...)
}

// giveUp finishes with an ERROR node of all nodes on the stack, the skipped nodes and the rest of the text.
func (p *parser) giveUp(top *entry, skipped ...ref) {
	bottom := top
	for bottom.node != 0 {
		bottom = bottom.prev
	}
	if top.pos < len(p.src) {
		n := p.add(node{sym: errorSym, start: uint32(top.pos), end: uint32(len(p.src)), flags: isExtra})
		skipped = append(slices.Clip(skipped), n)
	}
	n := p.errorNode(top, bottom, skipped)
	p.finish(n, top.cost+int(p.nodes[n].cost))
}
