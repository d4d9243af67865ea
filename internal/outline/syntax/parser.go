package syntax

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
)

// A parser runs over one text at a time. It follows every reading that the
// tables allow, side by side, until all but one have failed or come to the same.
type parser struct {
	g     *Grammar
	src   []byte
	lines []int // where they start
	steps int
	limit int

	versions []version
	work     []*entry
	failed   []*entry
	tree     ref // the best complete reading
	cost     int
	repairs  int

	recent  lexedTokens
	stack   straightStack
	careful bool // never goes straight, for the tests

	payload    any
	lexer      externalLexer
	scanBuf    []byte
	serialized [1024]byte
	scans      []string // what the scanner remembers, by number
	scanIDs    map[string]uint32
	lastScan   uint32
	line       int // of the last place that the scanner was set on

	// Nodes and their children are known by numbers, in memory that holds no
	// pointers: the collector has nothing to look for in it.
	nodes    []node
	children []ref
	entries  slab[entry]
	scratch  []ref
	levels   []level
}

// An entry is one element of a stack. Readings share the entries below the place
// where they part, and those above the place where they come to the same again:
// then an entry has several links down.
type entry struct {
	link
	more  []link
	state uint32
	pos   int    // where the text goes on
	scan  uint32 // what the scanner remembers
	depth int
	cost  int  // of the repairs so far
	prec  int  // of the readings chosen
	since int  // tokens read since the last repair
	done  bool // its actions have been taken
}

// A link leads down over a node.
type link struct {
	prev *entry
	node ref // none at the bottom
}

// A version is one reading of the text so far.
type version struct {
	top     *entry
	paused  bool  // no action: waits for the others to fail too
	broken  bool  // is looking for a way on
	skipped []ref // what it has skipped so far, in at most maxSkipped pieces
}

// parsers are used again, for whatever language comes next.
var parsers = sync.Pool{New: func() any {
	return &parser{nodes: make([]node, 1), scans: []string{""}, scanIDs: map[string]uint32{"": 0}}
}}

// nodesKept is how much memory for nodes a parser keeps for the next text: few need
// more.
const nodesKept = 1 << 17

// densityOf is how many bytes the density of nodes is counted in, and how long a text has
// to be to tell it and to need it.
const densityOf = 1 << 14

// reserve makes room for about as many nodes as a text will have: a large one would make
// the memory grow dozens of times, and be copied each time. Of a long file a history has
// hundreds of versions.
func (p *parser) reserve(size int) {
	most := int(p.g.density.Load()) * (size/densityOf + 1)
	most = min(most+most/8, size) // whatever the last one was like
	if most > cap(p.nodes) {
		p.nodes = slices.Grow(p.nodes, most)
	}
	if most > cap(p.children) {
		p.children = slices.Grow(p.children, most)
	}
}

func newParser(g *Grammar) *parser {
	p, _ := parsers.Get().(*parser)
	p.g = g
	return p
}

// forget lets go of the text and of all that was made of it, but for the memory.
func (p *parser) forget() {
	next := parser{
		scanBuf: p.scanBuf, scans: p.scans, scanIDs: p.scanIDs,
		levels: p.levels[:0], stack: straightStack{slots: p.stack.slots[:0], undo: p.stack.undo[:0]},
		lines: p.lines[:0], work: p.work[:0], failed: p.failed[:0], scratch: p.scratch[:0],
		nodes: p.nodes[:1], entries: p.entries, children: p.children[:0],
	}
	if p.payload != nil {
		p.g.scanner.Destroy(p.payload)
	}
	*p = next
	if len(p.scans) > scansKept {
		p.scans, p.scanIDs = []string{""}, map[string]uint32{"": 0}
	}
	if cap(p.nodes) > nodesKept || cap(p.children) > nodesKept {
		p.nodes, p.children = make([]node, 1), nil
	}
	p.entries.reset()
}

func (p *parser) parse(src []byte) (*Tree, error) {
	p.src, p.limit = src, stepsAtLeast+stepsPerByte*len(src)
	p.lexer.source = src
	if len(src) >= densityOf {
		p.reserve(len(src))
	}
	p.lines = append(p.lines, 0)
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		p.lines = append(p.lines, at)
	}
	first := p.newEntry()
	*first = entry{state: p.g.initial}
	if scanner := p.g.scanner; scanner != nil {
		p.payload = scanner.Create()
		n := scanner.Serialize(p.payload, p.serialized[:])
		first.scan = p.remember(p.serialized[:max(0, n)])
	}
	p.versions = []version{{top: first}}
	for len(p.versions) > 0 {
		i := p.pick()
		if p.steps > p.limit {
			p.stop(i)
			break
		}
		if i < 0 {
			p.repair()
			continue
		}
		v := p.versions[i]
		if v.top.depth > maxStack {
			p.stop(i)
			break
		}
		if v.broken {
			p.skip(i)
		} else {
			done := 0
			if len(p.versions) == 1 && p.tree == 0 && !p.careful {
				var limit bool
				if done, limit = p.straight(); limit {
					continue
				}
			}
			p.advance(i, done)
		}
		if len(p.versions) > 1 || p.tree != 0 {
			p.condense()
		}
	}
	if p.tree == 0 {
		return nil, errors.New("no parse of the text is possible")
	}
	if len(src) >= densityOf {
		p.g.density.Store(uint64(len(p.nodes)) * densityOf / uint64(len(src)))
	}
	return &Tree{root: p.tree, p: p}, nil
}

// pick returns the reading that is furthest behind, -1 if all are stuck.
func (p *parser) pick() int {
	best := -1
	for i := range p.versions {
		v := &p.versions[i]
		if !v.paused && (best < 0 || v.top.pos < p.versions[best].top.pos) {
			best = i
		}
	}
	return best
}

// advance takes a reading over one token, at which straight has done so much already.
func (p *parser) advance(i, done int) {
	p.work = append(p.work[:0], p.versions[i].top)
	p.failed = p.failed[:0]
	shifted, accepted := 0, false
	start := p.versions[i].top
	for n := 0; n < len(p.work) && done+n < maxForks; n++ {
		top := p.work[n]
		top.done = true
		p.steps++
		t := p.lex(top)
		acts, sym := p.actionsAt(top.state, &t)
		if len(acts) == 0 {
			p.failed = append(p.failed, top)
			continue
		}
		for _, act := range acts {
			switch act.Type {
			case ts.ParseActionShift:
				if act.Repetition || t.none {
					continue
				}
				next := p.shift(top, &t, sym, act)
				if shifted == 0 {
					p.versions[i] = version{top: next}
				} else {
					p.versions = append(p.versions, version{top: next})
				}
				shifted++
			case ts.ParseActionReduce:
				p.reduce(top, act, t.none)
			case ts.ParseActionAccept:
				p.accept(top)
				accepted = true
			case ts.ParseActionRecover:
			}
		}
	}
	switch {
	case shifted > 0:
	case accepted:
		p.versions = slices.Delete(p.versions, i, i+1)
	case len(p.failed) > 0:
		p.versions[i] = version{top: p.failed[len(p.failed)-1], paused: true}
	default: // the tables led nowhere
		if done > 0 {
			start = p.rewound()
		}
		p.versions[i] = version{top: start, paused: true}
	}
}

// actionsAt returns what may be done at a token, and as which symbol: a word is
// a keyword where that keyword may stand.
func (p *parser) actionsAt(state uint32, t *token) ([]ts.ParseAction, uint16) {
	if t.broken {
		return nil, 0
	}
	if t.keyword != 0 {
		if acts := p.actions(state, t.keyword); len(acts) > 0 {
			return acts, t.keyword
		}
	}
	return p.actions(state, t.sym), t.sym
}

func (p *parser) shift(top *entry, t *token, sym uint16, act ts.ParseAction) *entry {
	n := node{sym: sym, start: t.start, end: t.end}
	state := uint32(act.State)
	if act.Extra {
		n.flags |= isExtra
		state = top.state
	}
	e := p.push(top, p.add(n), state)
	e.pos, e.scan, e.since = int(t.end), t.scan, top.since+1
	return e
}

func (p *parser) push(below *entry, r ref, state uint32) *entry {
	e := p.newEntry()
	n := &p.nodes[r]
	*e = entry{
		link: link{below, r}, state: state, pos: below.pos, scan: below.scan, depth: below.depth + 1,
		cost: below.cost + int(n.cost), prec: below.prec + int(n.prec), since: below.since,
	}
	return e
}

// reduce makes one node of the topmost ones, for every way down, and adds what
// comes of it to the work.
func (p *parser) reduce(top *entry, act ts.ParseAction, complete bool) {
	if top.more == nil && p.reduceStraight(top, act, complete) {
		return
	}
	var paths []path
	p.paths(top, int(act.ChildCount), nil, &paths)
	for i := range paths {
		if p.chosen(paths, i) {
			p.reduceTo(top, paths[i].below, paths[i].nodes, act, complete)
		}
	}
}

// reduceStraight is reduce where there is only one way down, as nearly always.
func (p *parser) reduceStraight(top *entry, act ts.ParseAction, complete bool) bool {
	p.scratch = p.scratch[:0]
	below := top
	for want := int(act.ChildCount); want > 0; below = below.prev {
		if below.more != nil {
			return false
		}
		if below.node == 0 {
			return true // no such way
		}
		if !p.extra(below.node) {
			want--
		}
		p.scratch = append(p.scratch, below.node)
	}
	p.reduceTo(top, below, p.scratch, act, complete)
	return true
}

// A path is a way down a stack: the nodes on it, topmost first.
type path struct {
	nodes []ref
	below *entry
}

// paths collects the ways down over so many nodes, comments apart.
func (p *parser) paths(e *entry, want int, nodes []ref, out *[]path) {
	p.steps++
	if want == 0 {
		*out = append(*out, path{slices.Clone(nodes), e})
		return
	}
	for i := -1; i < len(e.more) && len(*out) < maxPaths; i++ {
		l := e.link
		if i >= 0 {
			l = e.more[i]
		}
		if l.node == 0 {
			continue
		}
		left := want
		if !p.extra(l.node) {
			left--
		}
		p.paths(l.prev, left, append(nodes, l.node), out)
	}
}

// chosen reports whether no other path to the same entry is to be preferred.
func (p *parser) chosen(paths []path, i int) bool {
	for j := range paths {
		if i == j || paths[i].below != paths[j].below {
			continue
		}
		if c := p.comparePaths(paths[i].nodes, paths[j].nodes); c > 0 || c == 0 && j < i {
			return false
		}
	}
	return true
}

func (p *parser) comparePaths(a, b []ref) int {
	total := func(nodes []ref) (cost, prec int) {
		for _, r := range nodes {
			n := &p.nodes[r]
			cost, prec = cost+int(n.cost), prec+int(n.prec)
		}
		return cost, prec
	}
	costA, precA := total(a)
	costB, precB := total(b)
	if c := cmp.Or(cmp.Compare(costA, costB), cmp.Compare(precB, precA), cmp.Compare(len(a), len(b))); c != 0 {
		return c
	}
	for i := len(a) - 1; i >= 0; i-- {
		if c := p.compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// reduceTo puts one node for several on an entry. Where the tables know no way
// on, nothing comes of it.
func (p *parser) reduceTo(top, below *entry, nodes []ref, act ts.ParseAction, complete bool) {
	next := p.next(below.state, uint16(act.Symbol))
	if next == 0 {
		return
	}
	p.steps += len(nodes) / 4
	trailing := 0
	if act.ChildCount > 0 {
		for p.extra(nodes[trailing]) {
			trailing++
		}
	}
	n := p.parent(uint16(act.Symbol), act.ProductionID, nodes[trailing:], top.pos)
	p.nodes[n].prec += int32(act.DynamicPrecedence)
	if complete && next == below.state {
		p.nodes[n].flags |= isExtra
	}
	e := p.push(below, n, next)
	// Comments behind it stay behind it.
	for i := trailing - 1; i >= 0; i-- {
		e.pos = top.pos
		e = p.push(e, nodes[i], next)
	}
	e.pos, e.scan, e.since = top.pos, top.scan, top.since
	for _, other := range p.work {
		if !other.done && p.merge(other, e) {
			return
		}
	}
	p.work = append(p.work, e)
}

// merge makes one entry of two that have the same future, and reports whether
// it has.
func (p *parser) merge(a, b *entry) bool {
	if a == b {
		return true
	}
	if a.state != b.state || a.pos != b.pos || a.cost != b.cost || a.scan != b.scan || a.node == 0 || b.node == 0 {
		return false
	}
	p.join(a, b.link)
	for _, l := range b.more {
		p.join(a, l)
	}
	a.prec = max(a.prec, b.prec)
	a.since = max(a.since, b.since)
	return true
}

// join adds a way down to an entry. Of two that differ only in how the same text
// is read, the better stays.
func (p *parser) join(e *entry, l link) {
	p.steps++
	for i := -1; i < len(e.more); i++ {
		own := &e.link
		if i >= 0 {
			own = &e.more[i]
		}
		if own.node == l.node && own.prev == l.prev {
			return
		}
		a, b := &p.nodes[own.node], &p.nodes[l.node]
		if a.sym != b.sym || a.start != b.start || a.end != b.end || a.flags != b.flags {
			continue
		}
		if own.prev == l.prev {
			if p.comparePaths([]ref{own.node}, []ref{l.node}) > 0 {
				own.node = l.node
			}
			return
		}
		if own.node == l.node && p.merge(own.prev, l.prev) {
			return
		}
	}
	if len(e.more) < maxLinks {
		e.more = append(e.more, l)
	}
}

// accept notes a complete reading.
func (p *parser) accept(top *entry) {
	var all []ref
	for e := top; e.node != 0; e = e.prev {
		all = append(all, e.node)
	}
	slices.Reverse(all)
	// One of them is the root; comments may stand before and behind it.
	i := slices.IndexFunc(all, func(r ref) bool { return !p.extra(r) })
	if i < 0 {
		return
	}
	root := all[i]
	if len(all) > 1 {
		whole := p.nodes[root]
		children := slices.Concat(all[:i], p.childrenOf(root), all[i+1:])
		whole.first, whole.count = uint32(len(p.children)), uint32(len(children))
		p.children = append(p.children, children...)
		whole.start = p.nodes[children[0]].start
		whole.end = max(whole.end, p.nodes[children[len(children)-1]].end)
		whole.cost = 0
		for _, r := range all {
			whole.cost += p.nodes[r].cost
		}
		root = p.add(whole)
	}
	p.finish(root, top.cost)
}

func (p *parser) finish(root ref, cost int) {
	if p.tree == 0 || cost < p.cost {
		p.tree, p.cost = root, cost
	}
}

// condense drops the readings that others have overtaken: those with the same
// stack as a better one, those that needed much more repair, and the last of too
// many.
func (p *parser) condense() {
	vs := p.versions
	active := slices.ContainsFunc(vs, func(v version) bool { return !v.paused })
	dead := func(i int) bool { return vs[i].top == nil }
	for i := range vs {
		if p.tree != 0 && vs[i].top.cost >= p.cost {
			vs[i].top = nil
			continue
		}
		if active && vs[i].paused {
			vs[i].top = nil
			continue
		}
		for j := range i {
			if dead(j) || vs[i].paused != vs[j].paused {
				continue
			}
			if p.overtaken(vs[j], vs[i]) {
				vs[j].top = nil
				continue
			}
			if p.overtaken(vs[i], vs[j]) {
				vs[i].top = nil
				break
			}
		}
	}
	vs = slices.DeleteFunc(vs, func(v version) bool { return v.top == nil })
	if len(vs) > maxVersions {
		slices.SortStableFunc(vs, func(a, b version) int {
			return cmp.Or(cmp.Compare(a.top.cost, b.top.cost), cmp.Compare(b.top.prec, a.top.prec))
		})
		clear(vs[maxVersions:])
		vs = vs[:maxVersions]
	}
	p.versions = vs
}

// muchWorse is how much more repair a reading may have cost than one that has
// just gone on; the longer the other goes on, the less.
const muchWorse = 1800

// overtaken reports whether b makes a superfluous. If they have come to the same,
// b takes over what a is.
func (p *parser) overtaken(a, b version) bool {
	if a.top.cost > b.top.cost && !b.broken && (a.top.cost-b.top.cost)*(1+b.top.since) > muchWorse && b.top.pos >= a.top.pos {
		return true
	}
	if a.broken || b.broken {
		return a.broken && b.broken && a.top.pos == b.top.pos && a.top.cost > b.top.cost
	}
	if a.top.cost > b.top.cost {
		return sameStates(a.top, b.top)
	}
	return p.merge(b.top, a.top)
}

// sameStates reports whether two stacks allow the same future.
func sameStates(a, b *entry) bool {
	if a.pos != b.pos || a.scan != b.scan || a.depth != b.depth {
		return false
	}
	for ; a != b; a, b = a.prev, b.prev {
		if a == nil || b == nil || a.state != b.state || a.more != nil || b.more != nil {
			return false
		}
	}
	return true
}

// compare puts two trees over the same text in order, the one to be preferred
// first.
func (p *parser) compare(a, b ref) int {
	type pair struct{ a, b ref }
	todo := []pair{{a, b}}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p.steps++
		if t.a == t.b {
			continue
		}
		a, b := p.childrenOf(t.a), p.childrenOf(t.b)
		if c := cmp.Or(cmp.Compare(p.nodes[t.a].sym, p.nodes[t.b].sym), cmp.Compare(len(a), len(b))); c != 0 {
			return c
		}
		for i := len(a) - 1; i >= 0; i-- {
			todo = append(todo, pair{a[i], b[i]})
		}
	}
	return 0
}

// newEntry returns an entry that may hold anything: the caller sets all of it.
func (p *parser) newEntry() *entry { return &p.entries.take(1)[0] }

// add keeps a node.
func (p *parser) add(n node) ref {
	p.nodes = append(p.nodes, n)
	return ref(len(p.nodes) - 1)
}

// extra reports a node outside of the grammar's rules.
func (p *parser) extra(r ref) bool { return p.nodes[r].flags&isExtra != 0 }

// childrenOf returns the children of a node.
func (p *parser) childrenOf(r ref) []ref {
	n := &p.nodes[r]
	return p.children[n.first : n.first+n.count]
}
