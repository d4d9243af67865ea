package syntax

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
)

// A parser parses one text at a time. It follows every parse that the tables allow, side by side, until the
// others have failed or merged into one.
type parser struct {
	g     *Grammar
	src   []byte
	lines []int // offsets of line starts
	steps int
	limit int

	versions []version
	work     []*entry
	failed   []*entry
	tree     ref // root of the best complete parse, 0 for none yet
	cost     int
	repairs  int

	recent    lexedTokens
	stack     linearStack
	linearOff bool // disables advanceLinear, for tests

	payload    any
	lexer      externalLexer
	scanBuf    []byte
	serialized [1024]byte
	scans      []string // serialized scanner states, by number
	scanIDs    map[string]uint32
	lastScan   uint32
	line       int // line of the last position passed to point

	// Nodes and their children are numbered and stored in slices without pointers, so the garbage collector
	// does not scan them.
	nodes    []node
	children []ref
	entries  slab[entry]
	scratch  []ref
	levels   []level
}

// An entry is one element of a parse stack. Parses share the entries below the point where they fork. They
// also share the entries above the point where they merge; the first of these has several links down.
type entry struct {
	link
	more  []link
	state uint32
	pos   int    // offset of the next token
	scan  uint32 // number of the scanner state
	depth int
	cost  int  // of the repairs so far
	prec  int  // dynamic precedence of the reductions so far
	since int  // tokens read since the last repair
	done  bool // its actions have been executed
}

// A link connects an entry with the one below it.
type link struct {
	prev *entry
	node ref // 0 at the bottom of the stack
}

// A version is one possible parse of the text so far.
type version struct {
	top     *entry
	paused  bool  // no action applies; it waits until the other versions fail too
	broken  bool  // it is skipping tokens to recover from a syntax error
	skipped []ref // skipped nodes, at most maxSkipped
}

// parsers is a pool. A parser can be reused for any language.
var parsers = sync.Pool{New: func() any {
	return &parser{nodes: make([]node, 1), scans: []string{""}, scanIDs: map[string]uint32{"": 0}}
}}

// maxKeptNodes limits the node memory that a parser keeps for the next text. Few texts need more.
const maxKeptNodes = 1 << 17

// densityUnit is the number of bytes in which the node density is measured. Shorter texts neither update the
// density nor reserve memory by it.
const densityUnit = 1 << 14

// reserve allocates memory for the nodes that a text of the given size probably has. Without it, the slices
// of a large text grow, and are copied, dozens of times. A history can contain hundreds of versions of a
// long file.
func (p *parser) reserve(size int) {
	most := int(p.g.density.Load()) * (size/densityUnit + 1)
	most = min(most+most/8, size) // never more than one node per byte
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

// reset drops the text and the tree, and keeps the memory.
func (p *parser) reset() {
	next := parser{
		scanBuf: p.scanBuf, scans: p.scans, scanIDs: p.scanIDs,
		levels: p.levels[:0], stack: linearStack{slots: p.stack.slots[:0], undo: p.stack.undo[:0]},
		lines: p.lines[:0], work: p.work[:0], failed: p.failed[:0], scratch: p.scratch[:0],
		nodes: p.nodes[:1], entries: p.entries, children: p.children[:0],
	}
	if p.payload != nil {
		p.g.scanner.Destroy(p.payload)
	}
	*p = next
	if len(p.scans) > maxKeptScans {
		p.scans, p.scanIDs = []string{""}, map[string]uint32{"": 0}
	}
	if cap(p.nodes) > maxKeptNodes || cap(p.children) > maxKeptNodes {
		p.nodes, p.children = make([]node, 1), nil
	}
	p.entries.reset()
}

func (p *parser) parse(src []byte) (*Tree, error) {
	p.src, p.limit = src, stepsAtLeast+stepsPerByte*len(src)
	p.lexer.source = src
	if len(src) >= densityUnit {
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
		first.scan = p.scanID(p.serialized[:max(0, n)])
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
			if len(p.versions) == 1 && p.tree == 0 && !p.linearOff {
				var limit bool
				if done, limit = p.advanceLinear(); limit {
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
	if len(src) >= densityUnit {
		p.g.density.Store(uint64(len(p.nodes)) * densityUnit / uint64(len(src)))
	}
	return &Tree{root: p.tree, p: p}, nil
}

// pick returns the version with the lowest position, or -1 if all versions are paused.
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

// advance moves a version past one token. advanceLinear has already made done reductions at that token.
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
	default: // no action led to a valid state
		if done > 0 {
			start = p.restoredTop()
		}
		p.versions[i] = version{top: start, paused: true}
	}
}

// actionsAt returns the actions for a token, and the symbol that they apply to. A word counts as a keyword
// where the grammar allows that keyword.
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
	e.pos = int(t.end)
	e.scan = t.scan
	e.since = top.since + 1
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

// reduce replaces the topmost nodes with their parent, once for every path down the stack, and appends the
// resulting entries to p.work.
func (p *parser) reduce(top *entry, act ts.ParseAction, complete bool) {
	if top.more == nil && p.reduceSinglePath(top, act, complete) {
		return
	}
	var paths []path
	p.paths(top, int(act.ChildCount), nil, &paths)
	for i := range paths {
		if p.preferred(paths, i) {
			p.reduceTo(top, paths[i].below, paths[i].nodes, act, complete)
		}
	}
}

// reduceSinglePath is reduce for a stack with only one path down, which is the usual case.
func (p *parser) reduceSinglePath(top *entry, act ts.ParseAction, complete bool) bool {
	p.scratch = p.scratch[:0]
	below := top
	for want := int(act.ChildCount); want > 0; below = below.prev {
		if below.more != nil {
			return false
		}
		if below.node == 0 {
			return true // the stack is too short: there is no such path
		}
		if !p.extra(below.node) {
			want--
		}
		p.scratch = append(p.scratch, below.node)
	}
	p.reduceTo(top, below, p.scratch, act, complete)
	return true
}

// A path leads down a stack. Its nodes are listed from the top.
type path struct {
	nodes []ref
	below *entry
}

// paths collects the paths down that contain the wanted number of nodes, not counting comments.
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

// preferred reports whether path i is the best of all paths to the same entry.
func (p *parser) preferred(paths []path, i int) bool {
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

// reduceTo pushes the parent of nodes on the entry below. It does nothing if the tables have no next state.
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
	// Comments after the last child stay outside the parent.
	for i := trailing - 1; i >= 0; i-- {
		e.pos = top.pos
		e = p.push(e, nodes[i], next)
	}
	e.pos = top.pos
	e.scan = top.scan
	e.since = top.since
	for _, other := range p.work {
		if !other.done && p.merge(other, e) {
			return
		}
	}
	p.work = append(p.work, e)
}

// merge joins b into a if the same parse can follow both. It reports whether it has.
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

// join adds a link down to an entry. If an existing link differs only in how it parses the same text, join
// keeps the better one.
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

// accept records a complete parse.
func (p *parser) accept(top *entry) {
	var all []ref
	for e := top; e.node != 0; e = e.prev {
		all = append(all, e.node)
	}
	slices.Reverse(all)
	// One of the nodes is the root. Comments may precede and follow it.
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

// condense drops versions that are superseded: those with the same stack as a better one, those with far
// more repairs, and the worst of those beyond maxVersions.
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
			if p.superseded(vs[j], vs[i]) {
				vs[j].top = nil
				continue
			}
			if p.superseded(vs[i], vs[j]) {
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

// maxExtraCost limits how much more a version may have cost than one that just recovered. The limit shrinks
// with the tokens that the other version has read since.
const maxExtraCost = 1800

// superseded reports whether version b makes version a unnecessary. If both are equivalent, superseded
// merges a into b.
func (p *parser) superseded(a, b version) bool {
	if a.top.cost > b.top.cost && !b.broken && (a.top.cost-b.top.cost)*(1+b.top.since) > maxExtraCost && b.top.pos >= a.top.pos {
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

// sameStates reports whether two stacks have the same states throughout.
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

// compare orders two trees over the same text. The preferred one sorts first.
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

// newEntry returns an uninitialized entry. The caller sets all its fields.
func (p *parser) newEntry() *entry { return &p.entries.take(1)[0] }

// add stores a node and returns its number.
func (p *parser) add(n node) ref {
	p.nodes = append(p.nodes, n)
	return ref(len(p.nodes) - 1)
}

// extra reports whether a node is outside the grammar's rules, such as a comment.
func (p *parser) extra(r ref) bool { return p.nodes[r].flags&isExtra != 0 }

func (p *parser) childrenOf(r ref) []ref {
	n := &p.nodes[r]
	return p.children[n.first : n.first+n.count]
}
