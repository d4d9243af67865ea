package outline

import (
	"iter"
	"strings"
)

// UnknownBase stands for a base type that is an expression, such as a call.
const UnknownBase = "?"

// Bases returns the types whose members a type has as well, in order, as their names are written: the classes that
// it extends, or the interfaces of an interface. For an embedded field of Go it is the type of the field, and for an
// impl of Rust the trait.
func (s *Symbol) Bases(lang Language) []string {
	switch lang {
	case Python:
		if s.Kind == Class {
			return pythonBases(afterName(s))
		}
	case TypeScript, TSX, JavaScript:
		if s.Kind == Class || s.Kind == Interface {
			return scriptBases(afterName(s), "extends", "implements")
		}
	case Go:
		return goBases(s)
	case Rust:
		if s.Kind == Impl {
			if trait, _, ok := strings.Cut(s.Name, " for "); ok {
				return baseNames([]string{trait}, "::")
			}
		}
	default: // the bases of other languages are not read
	}
	return nil
}

// Contracts returns the types that a type promises to be: its bases, and the interfaces that it implements.
func (s *Symbol) Contracts(lang Language) []string {
	list := s.Bases(lang)
	switch lang {
	case TypeScript, TSX, JavaScript:
		if s.Kind == Class {
			list = append(list, scriptBases(afterName(s), "implements", "extends")...)
		}
	default:
	}
	return list
}

// afterName returns the part of a signature after the name.
func afterName(s *Symbol) string {
	for rest := s.Signature; ; {
		i := strings.Index(rest, s.Name)
		if i < 0 {
			return ""
		}
		before, after := rest[:i], rest[i+len(s.Name):]
		isWord := before == "" || !isNameByte(before[len(before)-1])
		if isWord && (after == "" || !isNameByte(after[0])) {
			return after
		}
		rest = after
	}
}

func pythonBases(rest string) []string {
	start := strings.IndexByte(rest, '(')
	end := strings.LastIndexByte(rest, ')')
	if start < 0 {
		return nil
	}
	if end < start {
		return []string{UnknownBase} // the signature is cut
	}
	var list []string
	for _, arg := range splitList(rest[start+1:end], ',') {
		isKeyword := len(splitList(arg, '=')) > 1
		if !isKeyword && arg != "" {
			list = append(list, arg)
		}
	}
	return baseNames(list, ".")
}

// scriptBases returns the types behind one keyword, up to another one.
func scriptBases(rest, keyword, until string) []string {
	words := splitList(rest, ' ')
	for i, word := range words {
		if word != keyword {
			continue
		}
		end := i + 1
		for end < len(words) && words[end] != until {
			end++
		}
		return baseNames(splitList(strings.Join(words[i+1:end], " "), ','), ".")
	}
	return nil
}

func goBases(s *Symbol) []string {
	text := s.Signature
	switch s.Kind {
	case Field:
		text, _, _ = strings.Cut(text, "`")
		text = strings.TrimSpace(text)
		if len(splitList(text, ' ')) != 1 {
			return nil
		}
	case Type:
		_, alias, ok := strings.Cut(text, " = ")
		if !ok {
			return nil
		}
		text = alias
	default:
		return nil
	}
	return baseNames([]string{strings.TrimPrefix(text, "*")}, ".")
}

// baseNames returns the names of types without their type arguments.
func baseNames(list []string, separator string) []string {
	for i, name := range list {
		if at := strings.IndexAny(name, "<["); at > 0 {
			name = name[:at]
		}
		for part := range strings.SplitSeq(strings.TrimSpace(name), separator) {
			if !isIdentifier(strings.TrimPrefix(part, "$")) {
				name = UnknownBase
			}
		}
		list[i] = strings.TrimSpace(name)
	}
	return list
}

// splitList splits a text at a separator outside of brackets and strings, and trims the parts.
func splitList(text string, separator byte) []string {
	var list []string
	from := 0
	for i, depth := range bracketDepths(text) {
		if text[i] == separator && depth == 0 {
			list = append(list, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}

// bracketDepths yields the offsets of the bytes outside of strings, with the number of brackets around the next byte.
func bracketDepths(text string) iter.Seq2[int, int] {
	return func(yield func(i, depth int) bool) {
		depth := 0
		quote := byte(0)
		for i := range len(text) {
			b := text[i]
			isArrow := b == '>' && i > 0 && (text[i-1] == '=' || text[i-1] == '-')
			switch {
			case quote != 0:
				if b == quote && text[i-1] != '\\' {
					quote = 0
				}
				continue
			case b == '"' || b == '`' || b == '\'' && strings.IndexByte(text[i+1:], b) >= 0:
				quote = b
			case strings.IndexByte("([{<", b) >= 0:
				depth++
			case strings.IndexByte(")]}>", b) >= 0 && !isArrow:
				depth--
			}
			if !yield(i, depth) {
				return
			}
		}
	}
}
