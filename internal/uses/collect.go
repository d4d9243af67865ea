package uses

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A target is a place that a name leads to: a symbol of a file, or a file as a whole.
type target struct {
	path   repo.Path
	symbol string // full name; "" for the file as a whole
}

// A collector gathers the edges of one file. After its first error it adds nothing.
type collector struct {
	r    *Resolver
	from *ParsedFile
	own  *fileFacts // of from
	refs *outline.References

	uses      []use
	imports   map[*outline.Import][]outline.Binding // the settled ones, with their open names
	edges     []Edge
	index     map[edgeKey]int
	ambiguous int
	err       error
}

// A use is open until a rule settles it.
type use struct {
	*outline.Use
	settled bool
}

func newCollector(r *Resolver, from *ParsedFile, refs *outline.References) *collector {
	e := &collector{
		r: r, from: from, refs: refs,
		uses:    make([]use, len(refs.Uses)),
		imports: make(map[*outline.Import][]outline.Binding, len(refs.Imports)),
		index:   make(map[edgeKey]int),
	}
	for i := range refs.Uses {
		e.uses[i].Use = &refs.Uses[i]
	}
	return e
}

// settleImport records that the module of an import is known: it is a file of the repository, or comes from outside.
// open are the names that were not found in it.
func (e *collector) settleImport(im *outline.Import, open ...outline.Binding) { e.imports[im] = open }

type edgeKey struct {
	target
	kind outline.UseKind
	via  repo.Path
}

// A mention is how and where a file uses something.
type mention struct {
	kind  outline.UseKind
	lines []int
	more  int
	use   *use // the use that an edge for the mention settles; nil if the edge leads to something else
}

func mentionOf(u *use) mention { return mention{u.Kind, u.Lines, u.More, u} }

// plain is the mention without its kind: a call of a.b() is not a call of a.
func (m mention) plain() mention { return mention{lines: m.lines, more: m.more} }

// open is a mention whose edges do not settle the use.
func (m mention) open() mention {
	m.use = nil
	return m
}

// settle records that the meaning of the name is known.
func (m mention) settle() {
	if m.use != nil {
		m.use.settled = true
	}
}

func importMention(im *outline.Import) mention { return mention{lines: []int{im.Line}} }

// add adds an edge, or adds the places to the edge that is there, and settles the use. An exact edge replaces a
// likely one.
func (e *collector) add(to target, via repo.Path, c Certainty, m mention) {
	m.settle()
	if e.err != nil || to.path == e.from.Path && to.symbol == "" {
		return
	}
	if via == to.path {
		via = ""
	}
	key := edgeKey{to, m.kind, via}
	i, known := e.index[key]
	if !known {
		e.index[key] = len(e.edges)
		e.edges = append(e.edges, Edge{
			From: e.from.Path, To: to.path, Symbol: to.symbol, Kind: m.kind,
			Lines: slices.Clone(m.lines), More: m.more, Certainty: c, Via: via,
		})
		return
	}
	edge := &e.edges[i]
	if c == Exact {
		edge.Certainty = Exact
	}
	edge.Lines = append(edge.Lines, m.lines...)
	slices.Sort(edge.Lines)
	edge.Lines = slices.Compact(edge.Lines)
	edge.More += m.more
	if over := len(edge.Lines) - outline.MaxUseLines; over > 0 {
		edge.Lines = edge.Lines[:outline.MaxUseLines]
		edge.More += over
	}
}

// addOwn adds the uses of names that the file itself declares.
func (e *collector) addOwn() {
	index := e.declared(e.from.Path)
	for i := range e.refs.Own {
		u := &e.refs.Own[i]
		m := mention{kind: u.Kind, lines: u.Lines, more: u.More}
		found := index.top(u.Name)
		if u.Qualifier != "" {
			full := strings.ReplaceAll(u.Qualifier, "::", ".") + "." + u.Name
			found = index.find(u.Name, func(d *decl) bool { return endsWith(d.fullName(), full) })
		}
		for _, d := range found {
			e.add(d.target(), "", Exact, m)
		}
	}
}

// reaches reports whether there is an exact edge to a file.
func (e *collector) reaches(p repo.Path) bool {
	return slices.ContainsFunc(e.edges, func(edge Edge) bool { return edge.To == p && edge.Certainty == Exact })
}

// An openMember is a member that was not found by name: its owner is not known, or does not
// declare it.
type openMember struct {
	use   *use
	owner repo.Path // the file of the owner, "" when it is not known or the file itself
	typed bool      // the owner is a type, which may inherit the member
	of    target    // the owner, if it is a type of a TypeScript or Python file
}

// setOwner sets the owner.
func (m *openMember) setOwner(e *collector, owner target) {
	m.owner = owner.path
	m.typed = e.isType(owner)
	m.of = owner
}

// addMember adds a likely edge when exactly one declaration of a member was found. If the
// type of the value is not known, a name that values from outside of the repository often
// have is ambiguous even then: four of ten such edges would be wrong.
func (e *collector) addMember(m openMember, found []decl) {
	switch {
	case len(found) == 0:
	case len(found) == 1 && (m.typed || !isCommonMember(m.use.Name)):
		e.add(found[0].target(), "", Likely, mentionOf(m.use))
	case len(found) == 1 && found[0].path == e.from.Path:
	default:
		e.ambiguous++
	}
}

// isType reports whether a symbol is a type.
func (e *collector) isType(t target) bool {
	return slices.ContainsFunc(e.declared(t.path).full(t.symbol), func(d decl) bool { return isTypeKind(d.kind) })
}

// fail keeps the first error.
func (e *collector) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// remember returns the value of a key in a memo. If the value cannot be computed, the collector fails.
func remember[K comparable, V any](e *collector, m *memo[K, V], key K, compute func() (V, error)) V {
	v, err := m.get(key, compute)
	if err != nil {
		e.fail(err)
	}
	return v
}

// finish returns the edges in order, and what is still open.
func (e *collector) finish() Resolution {
	slices.SortFunc(e.edges, func(a, b Edge) int {
		return cmp.Or(
			cmp.Compare(a.To, b.To),
			cmp.Compare(a.Symbol, b.Symbol),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Via, b.Via),
		)
	})
	found := Resolution{Edges: e.edges, Ambiguous: e.ambiguous}
	isOwn := func(edge Edge) bool { return edge.To == e.from.Path }
	if slices.ContainsFunc(e.edges, isOwn) {
		found.Own = slices.DeleteFunc(slices.Clone(e.edges), func(edge Edge) bool { return !isOwn(edge) })
		found.Edges = slices.DeleteFunc(e.edges, isOwn)
	}
	for i := range e.uses {
		if !e.uses[i].settled {
			found.Open = append(found.Open, *e.uses[i].Use)
		}
	}
	for i := range e.refs.Imports {
		im := e.refs.Imports[i]
		open, settled := e.imports[&e.refs.Imports[i]]
		if settled {
			im.Names = open
		}
		if !settled || len(open) > 0 {
			found.Imports = append(found.Imports, im)
		}
	}
	return found
}
