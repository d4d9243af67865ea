package outline

import (
	"strings"

	"ken/internal/fresh"
)

// Grade grades the change between two versions of a file whose bytes differ.
//
// If the tokens are equal, the change is one of format. If both outlines are complete and the signatures are
// equal, it is one of body, otherwise of interface. Without two outlines in the same language, the grade is
// content.
func Grade(old, now *Outline) fresh.Grade {
	switch {
	case old == nil || now == nil || old.Language != now.Language:
		return fresh.GradeContent
	case !old.Tokens.IsZero() && old.Tokens == now.Tokens:
		return fresh.GradeFormat
	case old.Partial != "" || now.Partial != "":
		return fresh.GradeContent
	case old.Interface == now.Interface:
		return fresh.GradeBody
	default:
		return fresh.GradeInterface
	}
}

// GradeSymbol grades the change of one symbol, such as Type.Method. The grade is "" if the symbol did not
// change.
//
// An added or removed symbol is a change of interface. If neither version has the symbol, GradeSymbol
// returns the grade of the file and found is false. The same applies if an outline is partial, because it
// may lack the symbol or end it too early.
func GradeSymbol(old, now *Outline, name string) (g fresh.Grade, found bool) {
	if old == nil || now == nil || old.Language != now.Language {
		return fresh.GradeContent, false
	}
	was, is := old.Find(name), now.Find(name)
	switch {
	case len(was) == 0 && len(is) == 0,
		len(was) == 0 && old.More > 0,
		len(is) == 0 && now.More > 0,
		old.Partial != "" || now.Partial != "":
		return Grade(old, now), false
	case same(was, is, func(s *Symbol) Sum { return s.Text }):
		return "", true
	case same(was, is, func(s *Symbol) Sum { return s.Tokens }):
		return fresh.GradeFormat, true
	case same(was, is, func(s *Symbol) Sum { return s.Shape }):
		return fresh.GradeBody, true
	default:
		return fresh.GradeInterface, true
	}
}

// Find returns the symbols with a name. There are several if the language has overloading, or separates
// declarations from definitions. Type.Method can also be written Type::Method or Type#Method. The qualifier
// can be omitted if only one symbol matches.
func (o *Outline) Find(name string) []*Symbol {
	if o == nil || name == "" {
		return nil
	}
	name = plainName(name)
	if o.Package != "" {
		name = strings.TrimPrefix(name, plainName(o.Package)+".")
	}
	var exact, ending []*Symbol
	first, one := "", true
	for i := range o.Symbols {
		s := &o.Symbols[i]
		full := plainName(s.FullName())
		switch {
		case full == name || s.Kind == Heading && s.Name == name:
			exact = append(exact, s)
		case strings.HasSuffix(full, "."+name):
			one = one && (first == "" || first == full)
			first, ending = full, append(ending, s)
		}
	}
	if exact == nil && one {
		return ending
	}
	return exact
}

// same reports whether both lists have the same nonzero sums in order.
func same(a, b []*Symbol, of func(*Symbol) Sum) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if of(a[i]).IsZero() || of(a[i]) != of(b[i]) {
			return false
		}
	}
	return true
}
