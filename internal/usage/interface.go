package usage

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// InterfaceUses is a method of an interface, a trait or a base class that a method implements, with the files that may
// call the method through it.
type InterfaceUses struct {
	repo.PathJSON
	Name   string      `json:"name"` // of the interface's method
	Line   int         `json:"line"`
	UsedBy []FileLines `json:"used_by"`
	More   int         `json:"more,omitempty"` // the number of files above the limit
}

// An Implementor is a method that implements the method of the query.
type Implementor struct {
	repo.PathJSON
	Name string `json:"name"`
	Line int    `json:"line"`
}

const (
	maxContracts       = 20  // interfaces and implementors in an answer
	maxComparedMethods = 500 // methods of one name that are compared
	maxContractSteps   = 5   // from a type to an interface
)

// A typeAt is a type and a file that declares it or members of it.
type typeAt struct {
	path repo.Path
	name string
}

// contracts compares a method with the methods of the same name: it lists those of interfaces, traits and base classes
// that it implements, with their users, because a call through an interface names no type; and those that implement it.
func (r *reader) contracts(p repo.Path, s *outline.Symbol) error {
	owner, name := splitName(s.FullName())
	if s.Kind != outline.Method || owner == "" {
		return nil
	}
	all, err := r.index.Declarations(r.ctx, name)
	if err != nil {
		return err
	}
	c := contractSearch{reader: r, above: make(map[typeAt][]typeAt), implementing: make(map[typeAt]map[typeAt]bool)}
	asked := searchindex.Declaration{Path: p, Symbol: *s}
	for _, d := range all[:min(len(all), maxComparedMethods)] {
		other, _ := splitName(d.Symbol.FullName())
		isSame := other == owner && d.Path.Dir() == p.Dir()
		isMethod := other != "" && d.Symbol.Kind == outline.Method
		if isSame || !isMethod || extensionFamily(d.Path) != extensionFamily(p) {
			continue
		}
		above, err := c.implements(asked, d)
		if err != nil {
			return err
		}
		if above {
			if err := r.addContract(d); err != nil {
				return err
			}
			continue
		}
		below, err := c.implements(d, asked)
		if err != nil {
			return err
		}
		if below {
			i := Implementor{d.Path.JSON(), d.Symbol.FullName(), r.nameLine(d)}
			r.answer.ImplementedBy = append(r.answer.ImplementedBy, i)
		}
	}
	a := r.answer
	slices.SortStableFunc(a.Through, func(a, b InterfaceUses) int {
		return cmp.Compare(len(b.UsedBy)+b.More, len(a.UsedBy)+a.More)
	})
	a.Through = bounded(a, "through", a.Through, max(maxContracts, r.limit))
	a.ImplementedBy = bounded(a, "implemented_by", a.ImplementedBy, max(maxContracts, r.limit))
	return nil
}

// addContract adds a method that the asked one implements.
func (r *reader) addContract(d searchindex.Declaration) error {
	edges, err := r.index.Users(r.ctx, d.Path)
	if err != nil {
		return err
	}
	own, err := r.index.OwnUses(r.ctx, d.Path)
	if err != nil {
		return err
	}
	edges = append(edges, own...)
	edges = slices.DeleteFunc(edges, func(e searchindex.Edge) bool { return e.Symbol != d.Symbol.FullName() })
	t := InterfaceUses{PathJSON: d.Path.JSON(), Name: d.Symbol.FullName(), Line: r.nameLine(d), UsedBy: []FileLines{}}
	for _, row := range userRows(r.groupByFile(edges, fromFile)) {
		t.UsedBy = append(t.UsedBy, FileLines{row.path, row.lines, row.more})
	}
	t.More = max(0, len(t.UsedBy)-r.limit)
	t.UsedBy = t.UsedBy[:len(t.UsedBy)-t.More]
	r.answer.Through = append(r.answer.Through, t)
	return nil
}

// nameLine returns the line of a declaration's name.
func (r *reader) nameLine(d searchindex.Declaration) int {
	return d.Symbol.NameLine(strings.Split(string(r.tree.Read(r.ctx, d.Path)), "\n"))
}

// A contractSearch remembers what it has read of types.
type contractSearch struct {
	*reader
	above        map[typeAt][]typeAt        // by a type, its bases and interfaces
	implementing map[typeAt]map[typeAt]bool // by an interface of Go, the types, each with the directory of its package
}

// implements reports whether a method implements another one: its type says so, or in Go has all methods of the
// interface.
func (c *contractSearch) implements(m, contract searchindex.Declaration) (bool, error) {
	owner, _ := splitName(m.Symbol.FullName())
	other, _ := splitName(contract.Symbol.FullName())
	to := typeAt{contract.Path, other}
	if uses.Family(m.Path) == outline.Go {
		types, err := c.goImplementors(to)
		return types[typeAt{m.Path.Dir(), owner}], err
	}
	return c.reaches(typeAt{m.Path, owner}, to, &m.Symbol)
}

// goImplementors returns the types that have all methods of an interface, with the same numbers of parameters and
// results; nil if it is no interface.
func (c *contractSearch) goImplementors(contract typeAt) (map[typeAt]bool, error) {
	if types, known := c.implementing[contract]; known {
		return types, nil
	}
	o, _, _, err := c.index.Facts(c.ctx, contract.path)
	if err != nil {
		return nil, err
	}
	isContract := slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool {
		return s.FullName() == contract.name && s.Kind == outline.Interface
	})
	var types map[typeAt]bool // those that have the methods so far
	for i := range o.Symbols {
		s := &o.Symbols[i]
		of, name := splitName(s.FullName())
		if !isContract || of != contract.name || s.Kind != outline.Method {
			continue
		}
		declared, err := c.index.Declarations(c.ctx, name)
		if err != nil {
			return nil, err
		}
		having := make(map[typeAt]bool)
		for _, d := range declared {
			owner, _ := splitName(d.Symbol.FullName())
			t := typeAt{d.Path.Dir(), owner}
			if (types == nil || types[t]) && sameShape(s, &d.Symbol) {
				having[t] = true
			}
		}
		types = having
	}
	c.implementing[contract] = types
	return types, nil
}

// sameShape reports whether two methods of Go have as many parameters and results. One that ken cannot count may.
func sameShape(a, b *outline.Symbol) bool {
	least, most, known := a.Arguments(outline.Go)
	otherLeast, otherMost, otherKnown := b.Arguments(outline.Go)
	if !known || !otherKnown {
		return true
	}
	results, _ := a.Results()
	otherResults, _ := b.Results()
	return least == otherLeast && most == otherMost && results == otherResults
}

// reaches reports whether a type says that it is another one, itself or through its bases. inside is a symbol in the
// implementation of a trait, or in the type.
func (c *contractSearch) reaches(from, to typeAt, inside *outline.Symbol) (bool, error) {
	seen := map[typeAt]bool{from: true}
	level := []typeAt{from}
	for range maxContractSteps {
		var next []typeAt
		for _, t := range level {
			above, err := c.contractsOf(t, inside)
			if err != nil {
				return false, err
			}
			for _, other := range above {
				if other == to {
					return true, nil
				}
				if !seen[other] {
					seen[other] = true
					next = append(next, other)
				}
			}
		}
		level = next
		inside = nil
	}
	return false, nil
}

// contractsOf returns the types that a type names as its bases and interfaces, in its file or in files that this one
// uses: for a method of a trait's implementation the trait.
func (c *contractSearch) contractsOf(t typeAt, inside *outline.Symbol) ([]typeAt, error) {
	key := t
	if inside != nil {
		key.name += "#" + inside.FullName()
	}
	if above, known := c.above[key]; known {
		return above, nil
	}
	o, _, _, err := c.index.Facts(c.ctx, t.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range o.Symbols {
		s := &o.Symbols[i]
		isAround := inside != nil && s.Kind == outline.Impl && s.Line <= inside.Line && inside.EndLine <= s.EndLine
		if isAround || s.FullName() == t.name {
			names = append(names, s.Contracts(o.Language)...)
		}
	}
	var above []typeAt
	if len(names) > 0 {
		if above, err = c.typesNamed(t.path, &o, names); err != nil {
			return nil, err
		}
	}
	c.above[key] = above
	return above, nil
}

// typesNamed returns the types that names in a file mean.
func (c *contractSearch) typesNamed(p repo.Path, o *outline.Outline, names []string) (list []typeAt, err error) {
	edges, err := c.index.Uses(c.ctx, p)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		name = path.Base(strings.NewReplacer(".", "/", "::", "/").Replace(name))
		if slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool { return s.FullName() == name }) {
			list = append(list, typeAt{p, name})
		}
		for _, e := range edges {
			if e.Symbol == name {
				list = append(list, typeAt{e.To, name})
			}
		}
	}
	return list, nil
}
