package usage

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// InterfaceUses lists the files that may call a method through an interface or trait that its type
// implements.
type InterfaceUses struct {
	repo.PathJSON
	Name   string      `json:"name"` // of the interface's method
	Line   int         `json:"line"`
	UsedBy []FileLines `json:"used_by"`
	More   int         `json:"more,omitempty"` // the number of files above the limit
}

const (
	maxInterfaces       = 3  // the maximum number of interfaces in an answer
	maxInterfaceMembers = 60 // the maximum number of methods of one interface
)

// throughInterfaces lists the users of the interface methods that a method implements: a call through an interface
// names no type. A type implements an interface if the files of its directory declare all methods of the interface
// on it.
func (r *reader) throughInterfaces(p repo.Path, s *outline.Symbol) error {
	owner, name := splitName(s.FullName())
	if s.Kind != outline.Method || owner == "" {
		return nil
	}
	all, err := r.index.Declarations(r.ctx, name)
	if err != nil {
		return err
	}
	for _, d := range all {
		contract, _ := splitName(d.Symbol.FullName())
		if contract == "" || contract == owner && d.Path.Dir() == p.Dir() || extensionFamily(d.Path) != extensionFamily(p) {
			continue
		}
		fulfils, err := r.implements(p, owner, d.Path, contract)
		if err != nil {
			return err
		}
		if !fulfils {
			continue
		}
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
		if len(edges) == 0 || len(r.answer.Through) == maxInterfaces {
			continue
		}
		t := InterfaceUses{PathJSON: d.Path.JSON(), Name: d.Symbol.FullName(), Line: d.Symbol.NameLine(strings.Split(string(r.tree.Read(r.ctx, d.Path)), "\n"))}
		for _, row := range userRows(r.groupByFile(edges, fromFile)) {
			t.UsedBy = append(t.UsedBy, FileLines{row.path, row.lines, row.more})
		}
		t.More = max(0, len(t.UsedBy)-r.limit)
		t.UsedBy = t.UsedBy[:len(t.UsedBy)-t.More]
		r.answer.Through = append(r.answer.Through, t)
	}
	slices.SortStableFunc(r.answer.Through, func(a, b InterfaceUses) int {
		return cmp.Compare(len(b.UsedBy)+b.More, len(a.UsedBy)+a.More)
	})
	return nil
}

// implements reports whether a type in the directory of one file has all methods of an interface that another file
// declares.
func (r *reader) implements(p repo.Path, owner string, at repo.Path, contract string) (bool, error) {
	o, _, _, err := r.index.Facts(r.ctx, at)
	if err != nil {
		return false, err
	}
	isContract := slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool {
		return s.FullName() == contract && (s.Kind == outline.Interface || s.Kind == outline.Trait)
	})
	if !isContract {
		return false, nil
	}
	var members []string
	for i := range o.Symbols {
		if of, name := splitName(o.Symbols[i].FullName()); of == contract {
			members = append(members, name)
		}
	}
	for _, name := range members[:min(len(members), maxInterfaceMembers)] {
		declared, err := r.index.Declarations(r.ctx, name)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(declared, func(d searchindex.Declaration) bool {
			return d.Path.Dir() == p.Dir() && strings.TrimPrefix(d.Symbol.FullName(), owner) == "."+name
		}) {
			return false, nil
		}
	}
	return true, nil
}
