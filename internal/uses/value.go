package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
)

// hasCall reports whether a qualifier is the path of a value that a function returns, or of a member of one.
func hasCall(qualifier string) bool { return strings.Contains(qualifier, outline.CalledMark) }

// cutCall splits the path of a value that a call returns. Of mk().next(), value is mk() and function is next; of
// pkg.New(), value is "" and function is pkg.New. ok is false for a path that does not end in a call.
func cutCall(path string) (value, function string, ok bool) {
	function, ok = strings.CutSuffix(path, outline.CalledMark)
	if i := strings.LastIndex(function, outline.CalledMark+"."); i >= 0 {
		i += len(outline.CalledMark)
		value = function[:i]
		function = function[i+1:]
		ok = ok && !strings.Contains(function, ".")
	}
	return value, function, ok
}

// isFunction reports whether a declaration can be called by its name.
func (d *decl) isFunction() bool { return d.kind == outline.Func || d.kind == outline.Method }

// returned returns the class or interface of the value that a call in the file returns, if the function declares it.
func (s *moduleScope) returned(call string) (target, bool) {
	value, function, ok := cutCall(call)
	if !ok {
		return target{}, false
	}
	if value != "" {
		owner, ok := s.returned(value)
		if !ok {
			return target{}, false
		}
		h := s.inherited(owner, function)
		if len(h.found) != 1 || h.doubtful {
			return target{}, false
		}
		return s.valueType(&h.found[0])
	}
	to := s.typeIn(s.e.from.Path, function)
	if to.state != inside || to.module != nil {
		return target{}, false
	}
	declared := s.e.declared(to.symbol.path).full(to.symbol.symbol)
	if len(declared) != 1 {
		return target{}, false
	}
	if declared[0].kind == outline.Class {
		return to.symbol, true
	}
	if !declared[0].isFunction() {
		return target{}, false
	}
	return s.valueType(&declared[0])
}

// valueType returns the type of a variable, or of what a function returns.
func (s *moduleScope) valueType(d *decl) (target, bool) {
	if d.valueType == "" {
		return target{}, false
	}
	to := s.typeIn(d.path, d.valueType)
	if to.state != inside || to.module != nil || !s.e.isType(to.symbol) {
		return target{}, false
	}
	return to.symbol, true
}

// typeOf returns the type of a variable that another file declares, and any other symbol itself.
func (s *moduleScope) typeOf(owner target) target {
	declared := s.e.declared(owner.path).full(owner.symbol)
	if len(declared) != 1 || declared[0].isFunction() {
		return owner
	}
	if typ, ok := s.valueType(&declared[0]); ok {
		return typ
	}
	return owner
}

// returned returns the type of the value that a call in the file returns, if the function declares it.
func (s *goScope) returned(call string) goType {
	value, function, ok := cutCall(call)
	if !ok {
		return goType{}
	}
	if value != "" {
		owner := s.returned(value)
		if owner.pkg == nil {
			return goType{}
		}
		h := s.promoted(owner, function)
		if h.doubtful {
			return goType{}
		}
		return s.valueType(owner.pkg, h.found)
	}
	first, rest, _ := strings.Cut(function, ".")
	imports := s.boundTo(first)
	if len(imports) == 0 {
		declared := s.own.decls.full(function)
		if areTypes(declared) {
			return goType{s.own, function}
		}
		return s.valueType(s.own, declared)
	}
	if len(imports) > 1 || imports[0].pkg == nil || imports[0].dir.certainty != Exact {
		return goType{}
	}
	pkg := imports[0].pkg
	declared := s.importable(imports[0], pkg.decls.full(rest))
	if areTypes(declared) {
		return goType{pkg, rest}
	}
	return s.valueType(pkg, declared)
}

// valueType returns the type of a variable, or of what a function returns. If there are several declarations, for
// different systems, they must state the same type.
func (s *goScope) valueType(pkg *goPackage, declared []decl) goType {
	var typ goType
	for i := range declared {
		next := s.goNamed(pkg, declared[i].path, declared[i].valueType)
		if next.pkg == nil || i > 0 && next != typ {
			return goType{}
		}
		typ = next
	}
	if typ.pkg != nil && !areTypes(typ.pkg.decls.top(typ.name)) {
		return goType{}
	}
	return typ
}

// areVariables reports whether all declarations are variables.
func areVariables(declared []decl) bool {
	return len(declared) > 0 && !slices.ContainsFunc(declared, func(d decl) bool { return d.kind != outline.Var })
}
