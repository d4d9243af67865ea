package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ReferencesVersion changes whenever the same content would get other references.
const ReferencesVersion = 7

// Limits of the references of a file.
const (
	MaxUses     = 4000 // listed; More counts the others
	MaxUseLines = 5    // listed of one use; its More counts the others
)

// References lists the references of a file: its imports with the names that they bind, and the names that
// the file uses but does not declare. Like an [Outline], it depends only on the file's name and content. Its
// cache key includes [Version] and [ReferencesVersion].
type References struct {
	Imports []Import `json:"imports,omitempty"` // in file order
	Uses    []Use    `json:"uses,omitempty"`    // without duplicates of Qualifier, Member, Name and Kind, ordered by first line
	More    int      `json:"more,omitempty"`    // number of uses beyond MaxUses
	Own     []Use    `json:"own,omitempty"`     // uses of names and members that the file itself declares, at most MaxUses

	// Partial is the reason why references may be missing, or "" if they are complete. Syntax errors are
	// reported in [Outline.Partial] only.
	Partial string `json:"partial,omitempty"`
}

// An Import names another module or file. If Module is empty, the file exports one of its own names under
// another name. In Python, Names are then a list of __all__, with "*" if the file computes more of them.
type Import struct {
	Module   string    `json:"module"`             // as written, without quotes: "./a", "ken/internal/repo", "..pkg.mod", "crate::net::Conn", "stdio.h"
	Names    []Binding `json:"names,omitempty"`    // the names that it binds in the file; none for side effects and C includes
	Reexport bool      `json:"reexport,omitempty"` // the file exports the names again: export … from, pub use
	Line     int       `json:"line"`
}

// TextModulePrefix is the prefix of Import.Module for a module name in a string, as in Django's settings. The string
// may have another meaning.
const TextModulePrefix = "text:"

// A Binding is one imported name. {Name: "*"} means all names of the module. {Name: "", As: "ns"} is the
// module itself: import * as ns, a Go package, Python's import x as ns. {Name: "default", As: "React"} is
// the default export.
type Binding struct {
	Name string `json:"name,omitempty"`
	As   string `json:"as,omitempty"` // the local name, "" if equal to Name
}

// Local returns the name that the binding has in the file, or "" for "*".
func (b Binding) Local() string {
	switch {
	case b.As != "":
		return b.As
	case b.Name == "*":
		return ""
	}
	return b.Name
}

// A Use is a name that a file uses but does not declare.
type Use struct {
	// Qualifier is the path of plain names before the last dot (or ::, ->), as written: pkg in pkg.Name,
	// crate::net::Conn in crate::net::Conn::new(). The first name of the path is a use as well. Qualifier is
	// never a local variable: for x.Run() it is the declared type of x, or "" if the file does not declare
	// one. For this and self it is the class. For the value of a call it is the path of the function with (), as in
	// pkg.New().
	Qualifier string  `json:"qualifier,omitempty"`
	Member    bool    `json:"member,omitempty"` // Name follows a dot; without Qualifier, it follows an expression
	Name      string  `json:"name"`
	Kind      UseKind `json:"kind,omitempty"`
	Lines     []int   `json:"lines"`          // the first MaxUseLines lines, ascending, without duplicates
	More      int     `json:"more,omitempty"` // number of further lines
}

// A UseKind tells how a name is used.
type UseKind string

// The kinds of uses.
const (
	UseMention UseKind = ""        // any other use
	UseCall    UseKind = "call"    // of a function, method or macro
	UseLiteral UseKind = "literal" // a value of the type is created: T{…}, new T
	UseType    UseKind = "type"    // as a type: of a variable, a base class
	UseMatch   UseKind = "match"   // in a case of a switch, match or catch
)

// A kindCode is a UseKind in one byte.
type kindCode byte

const (
	mentionKind kindCode = iota
	callKind
	literalKind
	typeKind
	matchKind
)

var useKinds = [...]UseKind{UseMention, UseCall, UseLiteral, UseType, UseMatch}

// A nameID is the number of a name in a nameCollector. 0 means no name.
type nameID uint32

// A nameCollector collects the imports of a file and the names that it mentions, while the tree is walked.
// It drops local names.
//
// In some languages a declaration applies to its whole block, even before its position. So a mention is
// pending until its block ends. It is dropped there if the block declares the name.
type nameCollector struct {
	*file

	ids     map[string]nameID
	texts   []string    // by id
	marks   []boundMark // by id
	open    []int32     // by id: number of bindings in the open scopes, except the file scope
	types   []pathName  // by id: type of the innermost of these bindings
	serial  uint32      // of the scope that marks belong to
	pending []mention
	scopes  []scope
	found   []Import
	members map[string]bool     // members that the file declares, as Type.Member
	fields  map[nameID]pathName // types of fields that the file declares, by path
	buffer  []byte              // for building paths
	depth   int                 // of the walk
	tooDeep bool
}

// A mention is one occurrence of a name.
type mention struct {
	name   nameID
	before pathName // the qualifier
	at     uint32
	member bool
	kind   kindCode
}

// A scope is a part of a file with its own declarations.
type scope struct {
	from        int // index of its first mention in pending
	function    bool
	conditional bool // a conditional type of TypeScript, which can infer others
	bound       []localName
	members     map[nameID]bool // members of a class, which are bound as well
}

// A localName is a name that a scope binds.
type localName struct {
	name nameID
	from int      // index of the first mention in pending that refers to it
	typ  pathName // its declared type
	was  pathName // type of the name in the outer scopes
}

// A pathName is a path of names and its first name. The zero value means none.
type pathName struct{ path, root nameID }

// singleName returns a path that consists of one name.
func singleName(name nameID) pathName { return pathName{name, name} }

// A boundMark records that the scope with a serial number binds a name.
type boundMark struct {
	serial uint32
	from   int
	typ    pathName
}

// Limits of the walk. More deeply nested nodes are ignored. More deeply nested scopes are treated as one.
const (
	maxWalkDepth = 2000
	maxScopes    = 200
	maxPath      = 200 // bytes
)

func newNameCollector(f *file) *nameCollector {
	c := &f.scratch.collector
	if c.ids == nil {
		c.ids = make(map[string]nameID)
		c.members = make(map[string]bool)
		c.fields = make(map[nameID]pathName)
	}
	clear(c.ids)
	clear(c.members)
	clear(c.fields)
	c.file = f
	c.serial = 0
	c.depth = 0
	c.tooDeep = false
	c.found = nil
	c.texts = c.texts[:0]
	c.marks = c.marks[:0]
	c.open = c.open[:0]
	c.types = c.types[:0]
	c.grow("") // nameID 0
	c.pending, c.scopes = c.pending[:0], c.scopes[:0]
	c.enter(true) // the file scope
	return c
}

// id returns the number of a name.
func (c *nameCollector) id(name []byte) nameID {
	if id, ok := c.ids[string(name)]; ok {
		return id
	}
	return c.newID(string(name))
}

func (c *nameCollector) idOf(name string) nameID {
	if id, ok := c.ids[name]; ok {
		return id
	}
	return c.newID(name)
}

func (c *nameCollector) newID(name string) nameID {
	if name == "" {
		return 0
	}
	id := nameID(len(c.texts))
	c.ids[name] = id
	c.grow(name)
	return id
}

func (c *nameCollector) grow(name string) {
	c.texts = append(c.texts, name)
	c.marks = append(c.marks, boundMark{})
	c.open = append(c.open, 0)
	c.types = append(c.types, pathName{})
}

// join appends a name to a path. The result is empty if the path is too long.
func (c *nameCollector) join(before pathName, separator string, name []byte) pathName {
	if before.root == 0 || len(c.texts[before.path])+len(name) > maxPath {
		return pathName{}
	}
	c.buffer = append(append(append(c.buffer[:0], c.texts[before.path]...), separator...), name...)
	return pathName{c.id(c.buffer), before.root}
}

// enter opens a scope.
func (c *nameCollector) enter(function bool) {
	if len(c.scopes) < cap(c.scopes) {
		c.scopes = c.scopes[:len(c.scopes)+1] // reuse the memory of an earlier scope
	} else {
		c.scopes = append(c.scopes, scope{})
	}
	s := &c.scopes[len(c.scopes)-1]
	*s = scope{from: len(c.pending), function: function, bound: s.bound[:0]}
}

// within calls walk in a new scope.
func (c *nameCollector) within(function bool, walk func()) {
	if len(c.scopes) >= maxScopes {
		walk()
		return
	}
	c.enter(function)
	walk()
	c.leave()
}

// leave closes a scope and drops the mentions of names that it binds.
func (c *nameCollector) leave() {
	s := &c.scopes[len(c.scopes)-1]
	c.scopes = c.scopes[:len(c.scopes)-1]
	if len(s.bound) == 0 && s.members == nil {
		return
	}
	c.serial++
	for _, b := range slices.Backward(s.bound) {
		c.open[b.name]--
		c.types[b.name] = b.was
		m := &c.marks[b.name]
		switch {
		case m.serial != c.serial:
			*m = boundMark{serial: c.serial, from: b.from, typ: b.typ}
		case m.typ != b.typ:
			m.from, m.typ = min(m.from, b.from), pathName{}
		default:
			m.from = min(m.from, b.from)
		}
	}
	kept := s.from
	for i := s.from; i < len(c.pending); i++ {
		m := c.pending[i]
		if m.before.root == 0 {
			if !m.member && (c.marks[m.name].binds(c.serial, i) || s.members[m.name]) {
				continue
			}
		} else if b := c.marks[m.before.root]; b.binds(c.serial, i) {
			m.before = c.typeBefore(m.before, b)
		} else if s.members[m.before.root] {
			m.before = pathName{}
		}
		c.pending[kept] = m
		kept++
	}
	c.pending = c.pending[:kept]
}

// typeBefore returns the qualifier of a member of a local variable: the type of the variable, unless that is
// local as well.
func (c *nameCollector) typeBefore(before pathName, b boundMark) pathName {
	if before.path != before.root || c.marks[b.typ.root].serial == c.serial {
		return pathName{}
	}
	return b.typ
}

func (m boundMark) binds(serial uint32, i int) bool { return m.serial == serial && i >= m.from }

// bind declares a name in the innermost scope, from here on.
func (c *nameCollector) bind(name nameID, typ pathName) {
	c.bindIn(len(c.scopes)-1, name, len(c.pending), typ)
}

// bindAll declares a name in the whole innermost scope.
func (c *nameCollector) bindAll(name nameID, typ pathName) {
	at := len(c.scopes) - 1
	c.bindIn(at, name, c.scopes[at].from, typ)
}

// bindFunction declares a name in the whole innermost function.
func (c *nameCollector) bindFunction(name nameID, typ pathName) {
	at := len(c.scopes) - 1
	for at > 0 && !c.scopes[at].function {
		at--
	}
	c.bindIn(at, name, c.scopes[at].from, typ)
}

func (c *nameCollector) bindIn(at int, name nameID, from int, typ pathName) {
	if name == 0 {
		return
	}
	s := &c.scopes[at]
	s.bound = append(s.bound, localName{name: name, from: from, typ: typ, was: c.types[name]})
	if at > 0 {
		c.open[name]++
		c.types[name] = typ
	}
}

// isLocal reports whether an open scope already binds a name.
func (c *nameCollector) isLocal(name nameID) bool { return c.open[name] > 0 }

// mention records an unqualified name.
func (c *nameCollector) mention(name nameID, at int, kind kindCode) {
	if name != 0 && at < len(c.src) && !c.isLocal(name) {
		c.pending = append(c.pending, mention{name: name, at: uint32(at), kind: kind})
	}
}

// member records a name after a dot. before is empty if the name follows an expression.
func (c *nameCollector) member(before pathName, name nameID, at int, kind kindCode) {
	if name == 0 || at >= len(c.src) { // a parser may insert a name that the text lacks
		return
	}
	if before.path != before.root && c.isLocal(before.root) {
		before = pathName{}
	}
	c.pending = append(c.pending, mention{before: before, name: name, at: uint32(at), member: true, kind: kind})
}

// step records a member of a path and returns the qualifier of the next member: the type of the member if
// the file declares it, otherwise the path including the member. It returns the zero value if the member
// follows an expression or a local name.
func (c *nameCollector) step(before pathName, separator string, name []byte, at int, kind kindCode) pathName {
	c.member(before, c.id(name), at, kind)
	if typ, ok := c.fieldType(before, separator, name); ok || c.isLocal(before.root) {
		return typ
	}
	return c.join(before, separator, name)
}

// fieldType returns the type of a member, if the file declares it.
func (c *nameCollector) fieldType(before pathName, separator string, name []byte) (typ pathName, ok bool) {
	if c.isLocal(before.root) {
		if before.path != before.root {
			return pathName{}, false
		}
		before = c.types[before.root]
	}
	if len(c.fields) == 0 || before.path == 0 {
		return pathName{}, false
	}
	c.buffer = append(append(append(c.buffer[:0], c.texts[before.path]...), separator...), name...)
	typ, ok = c.fields[c.ids[string(c.buffer)]]
	return typ, ok
}

// field records the type of a member. A member with several types, or with a type parameter of its owner as
// type, has none.
func (c *nameCollector) field(owner pathName, separator string, name []byte, typ pathName) {
	path := c.join(owner, separator, name).path
	if path == 0 || typ.path == 0 || c.isLocal(typ.root) {
		return
	}
	if old, ok := c.fields[path]; ok && old != typ {
		typ = pathName{}
	}
	c.fields[path] = typ
}

// called returns the path of the value that a call of a function returns.
func (c *nameCollector) called(function pathName) pathName { return c.join(function, CalledMark, nil) }

// CalledMark follows the path of a function in the path of the value that it returns.
const CalledMark = "()"

// memberPath returns the path of a member of a value, without a mention of it: by the type of a local variable.
func (c *nameCollector) memberPath(before pathName, separator string, name []byte) pathName {
	if typ, ok := c.fieldType(before, separator, name); ok {
		return typ
	}
	if c.isLocal(before.root) {
		if before.path != before.root {
			return pathName{}
		}
		before = c.types[before.root]
	}
	return c.join(before, separator, name)
}

// imports adds an import.
func (c *nameCollector) imports(module string, at int, names ...Binding) *Import {
	module = strings.TrimSpace(module)
	if module == "" || len(c.found) >= MaxSymbols {
		return &Import{}
	}
	names = slices.DeleteFunc(names, func(b Binding) bool { return b == Binding{} })
	if len(names) == 0 {
		names = nil // equal after decoding
	}
	c.found = append(c.found, Import{Module: module, Names: names, Line: c.line(at)})
	return &c.found[len(c.found)-1]
}

// descend reports whether the walk may go one level deeper. ascend undoes it.
func (c *nameCollector) descend() bool {
	if c.depth >= maxWalkDepth {
		c.tooDeep = true
		return false
	}
	c.depth++
	return true
}

func (c *nameCollector) ascend() { c.depth-- }

// A useKey identifies a use.
type useKey struct {
	qualifier, name nameID
	member          bool
	kind            kindCode
}

// references returns the collected references. builtin reports whether a name is predeclared in the
// language. common reports whether a member belongs to the language's own types.
func (c *nameCollector) references(builtin, common func(name string) bool) *References {
	slices.SortStableFunc(c.found, func(a, b Import) int { return cmp.Compare(a.Line, b.Line) })
	refs := &References{Imports: c.found}
	if c.tooDeep {
		refs.Partial = "nested too deeply: names inside are left out"
	}
	own := c.dropKnown(builtin, common)
	refs.Uses, refs.More = c.grouped(c.pending)
	refs.Own, _ = c.grouped(own)
	return refs
}

// grouped returns mentions as uses, and the number of uses beyond MaxUses.
func (c *nameCollector) grouped(list []mention) (uses []Use, more int) {
	byPlace := func(a, b mention) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(list, byPlace) {
		slices.SortStableFunc(list, byPlace)
	}

	// The lines of all uses share one array, so count them first.
	groups := make(map[useKey]int32, len(list)/2)
	group := make([]int32, len(list)) // by mention; -1 for one beyond MaxUses
	var sizes []int32
	total := 0
	for i, m := range list {
		key := useKey{m.before.path, m.name, m.member, m.kind}
		g, ok := groups[key]
		if !ok {
			g = -1
			if len(sizes) < MaxUses {
				g = int32(len(sizes))
				sizes = append(sizes, 0)
			} else {
				more++
			}
			groups[key] = g
		}
		if group[i] = g; g >= 0 && sizes[g] < MaxUseLines {
			sizes[g]++
			total++
		}
	}
	if len(sizes) == 0 {
		return nil, more
	}
	uses = make([]Use, len(sizes))
	last := make([]int, len(sizes)) // last line of each use
	lines := make([]int, total)
	line := 0 // mentions are in order, and so are their lines
	for i, m := range list {
		for line < len(c.lines) && c.lines[line] <= int(m.at) {
			line++
		}
		g := group[i]
		if g < 0 {
			continue
		}
		u := &uses[g]
		if u.Name == "" {
			u.Qualifier = c.texts[m.before.path]
			u.Member = m.member
			u.Name = c.texts[m.name]
			u.Kind = useKinds[m.kind]
			u.Lines, lines = lines[:0:sizes[g]], lines[sizes[g]:]
		}
		switch {
		case last[g] == line:
			continue
		case len(u.Lines) < MaxUseLines:
			u.Lines = append(u.Lines, line)
		default:
			u.More++
		}
		last[g] = line
	}
	return uses, more
}

// dropKnown drops mentions of names that the file declares at its top level or that are predeclared, and returns those
// that the file declares. Names that an import binds stay. A common member of an unknown value most likely belongs to
// a type of the language itself, so it is dropped too.
func (c *nameCollector) dropKnown(builtin, common func(name string) bool) (own []mention) {
	imported := make(map[nameID]bool)
	for _, im := range c.found {
		for _, b := range im.Names {
			if local := b.Local(); local != "" && !im.Reexport {
				imported[c.idOf(local)] = true
				if first, _, ok := strings.Cut(local, "."); ok {
					imported[c.idOf(first)] = true
				}
			}
		}
	}
	known := make(map[nameID]bool)
	types := make(map[nameID]pathName) // of top-level variables
	for _, b := range c.scopes[0].bound {
		if known[b.name] && types[b.name] != b.typ {
			b.typ = pathName{}
		}
		known[b.name], types[b.name] = true, b.typ
	}
	for i := range c.symbols {
		s := &c.symbols[i]
		if s.Qualified != "" && s.Qualified != s.Name {
			c.members[s.Qualified] = true
			c.members[shortened(s.Qualified)] = true
		} else if s.Depth == 0 {
			known[c.idOf(s.Name)] = true
		}
	}
	const (
		unseen = iota
		builtIn
		other
	)
	states := make([]byte, len(c.texts)) // by name
	isBuiltin := func(id nameID) bool {
		if states[id] == unseen {
			if states[id] = other; builtin(c.texts[id]) {
				states[id] = builtIn
			}
		}
		return states[id] == builtIn
	}
	for i := range c.pending {
		before := &c.pending[i].before
		if typ := types[before.root]; typ.path != 0 && before.path == before.root && !imported[before.root] {
			*before = typ
		}
		isUnknown := isBuiltin(before.root) && !known[before.root] && strings.Contains(c.texts[before.path], CalledMark)
		if isUnknown { // it may return any value: next, getattr
			*before = pathName{}
		}
	}
	c.pending = slices.DeleteFunc(c.pending, func(m mention) bool {
		switch {
		case m.member && strings.HasSuffix(c.texts[m.before.path], CalledMark) && common(c.texts[m.name]):
			return true
		case m.before.root != 0:
			if imported[m.before.root] {
				return false
			}
			if isBuiltin(m.before.root) && !known[m.before.root] {
				return true
			}
			if c.hasMember(m) {
				own = append(own, m)
				return true
			}
			return false
		case m.member:
			return common(c.texts[m.name])
		case imported[m.name]:
			return false
		}
		if known[m.name] {
			own = append(own, m)
			return true
		}
		return isBuiltin(m.name)
	})
	return own
}

// hasMember reports whether the file declares the member that a mention refers to.
func (c *nameCollector) hasMember(m mention) bool {
	c.buffer = append(append(append(c.buffer[:0], plainName(c.texts[m.before.path])...), '.'), c.texts[m.name]...)
	return c.members[string(c.buffer)]
}

// collect sets the references of a file, if they are wanted. If the walk panics, the file has an outline but
// no references.
func (f *file) collect(walk func() *References) {
	if !f.wantRefs {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			f.refs = &References{Partial: fmt.Sprintf("%s%v", walkFailed, r)}
			f.scratch.collector = nameCollector{}
		}
	}()
	f.refs = walk()
}

const walkFailed = "the names could not be read: "

// shortened removes the outer qualifiers from a full name: within its namespace, ns.Type.Member is
// Type.Member.
func shortened(name string) string {
	last := strings.LastIndexByte(name, '.')
	if last < 0 {
		return name
	}
	return name[strings.LastIndexByte(name[:last], '.')+1:]
}
