package outline

import (
	"strings"

	"ken/internal/fresh"
)

// Grade says how far a file has moved from one version to another, given that
// their bytes differ.
//
// Equal tokens are a change of format. Equal signatures are a change of bodies,
// where both versions are whole; else the interface has moved. Without two
// outlines in one language nothing finer than content is known.
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

// GradeSymbol is Grade for what one name stands for, as Type.Method, and nothing
// else of the file. It is "" when that has not moved at all.
//
// A name that came or went is a change of interface. One that neither version has
// is graded as the file is, and found is false; so is any name of a partial outline,
// which may have missed it, or where it ends.
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

// Find returns the symbols that a name stands for: one as a rule, several where
// the language overloads, or declares here and defines there. Type.Method may be
// written Type::Method or Type#Method too. What comes before may be left out as
// long as one name remains: Method, where only one type has it.
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

// same reports whether both lists have the same sums, known and in order.
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
