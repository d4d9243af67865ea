package outline

import "strings"

// ValueType returns the type that a signature states: of what a function or method returns, or of a variable or
// field. It is the name of the type as it is written, without pointers and type arguments; of several results of Go,
// the type of the first one. It returns "" if the signature has no such type, or if it is not the name of one type: a
// type parameter, a list, a union.
func (s *Symbol) ValueType(lang Language) string {
	switch lang {
	case Go, TypeScript, TSX, JavaScript, Python:
	default:
		return "" // not read
	}
	rest := afterName(s)
	typeParams := ""
	switch s.Kind {
	case Func, Method:
		parts, ok := s.parameters()
		if !ok || lang == Python && isWrapped(s.Signature) {
			return ""
		}
		typeParams = parts.typeParams
		rest = parts.after
		if lang == Go {
			receiver := strings.TrimSuffix(s.Signature, afterName(s))
			_, typeArgs, _ := strings.Cut(receiver, "[")
			typeParams += " " + typeArgs
			rest = firstResult(rest)
		}
	case Var, Const, Field, Property:
		if lang == Go {
			rest, _, _ = strings.Cut(rest, "=")
		}
	default:
		return ""
	}
	name := statedType(rest, lang)
	const minLength = 2 // a shorter name is a type parameter
	if len(name) < minLength || HasWord(typeParams, name) {
		return ""
	}
	return name
}

// isWrapped reports whether a function of Python has a decorator that may change what a call returns.
func isWrapped(signature string) bool {
	if strings.HasPrefix(signature, "@classmethod ") || strings.HasPrefix(signature, "@staticmethod ") {
		_, signature, _ = strings.Cut(signature, " ")
	}
	return !strings.HasPrefix(signature, "def ")
}

// statedType returns the name of a type in the notation of a language.
func statedType(text string, lang Language) string {
	text = strings.TrimSpace(text)
	switch lang {
	case Python:
		text = strings.TrimPrefix(strings.TrimPrefix(text, ":"), "->")
		text = strings.Trim(strings.TrimSpace(text), `"'`)
	case Go:
		text = strings.TrimLeft(text, "*")
		if strings.HasPrefix(text, "map[") {
			return ""
		}
	default:
		stated, ok := strings.CutPrefix(strings.TrimPrefix(text, "?"), ":")
		if !ok || strings.ContainsRune(text, '[') { // a list, or the type of a member
			return ""
		}
		text = strings.TrimSuffix(strings.TrimSuffix(stated, ";"), "=>")
	}
	if name := baseNames([]string{text}, ".")[0]; name != UnknownBase {
		return name
	}
	return ""
}

// firstResult returns the type of the first result of a function of Go.
func firstResult(results string) string {
	list := goParameters(results)
	if len(list) == 0 {
		return ""
	}
	for _, part := range list {
		name, typ, hasName := strings.Cut(part, " ")
		if hasName && isIdentifier(name) && name != "chan" {
			return typ
		}
	}
	return list[0]
}

// goParameters splits results of Go: "", "T", or "(T, U)".
func goParameters(text string) []string {
	text = strings.TrimSpace(text)
	if inside, _, ok := cutBrackets(text); ok && strings.HasPrefix(text, "(") {
		text = inside
	}
	if text == "" {
		return nil
	}
	return splitList(text, ',')
}

// callParts are the parts of a function's signature behind its name.
type callParts struct {
	typeParams string
	params     []string
	after      string // behind the parameters
}

// parameters returns the parts of a signature; ok is false if it has no list of parameters, or is cut.
func (s *Symbol) parameters() (p callParts, ok bool) {
	rest := strings.TrimPrefix(afterName(s), "?")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, " = "), "async ")
	if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "<") {
		if p.typeParams, rest, ok = cutBrackets(rest); !ok {
			return p, false
		}
	}
	if !strings.HasPrefix(rest, "(") {
		return p, false
	}
	inside, after, ok := cutBrackets(rest)
	p.after = after
	if strings.TrimSpace(inside) != "" {
		p.params = splitList(inside, ',')
	}
	return p, ok
}

// cutBrackets splits a text that begins with a bracket into what is inside of the brackets and what follows them.
func cutBrackets(text string) (inside, after string, ok bool) {
	for i, depth := range bracketDepths(text) {
		if i == 0 && depth == 0 {
			break
		}
		if depth == 0 {
			return text[1:i], text[i+1:], true
		}
	}
	return "", "", false
}
