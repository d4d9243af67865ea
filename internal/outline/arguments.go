package outline

import (
	"slices"
	"strings"
)

// NoMost is the largest number of arguments of a function that takes any number.
const NoMost = 1 << 20

// Arguments returns how many arguments a call of a function or method may have. ok is false if the signature does not
// say it: in other languages, behind a decorator, with a lifetime, or if it is cut.
func (s *Symbol) Arguments(lang Language) (least, most int, ok bool) {
	isCalled := s.Kind == Func || s.Kind == Method
	hasLifetime := lang == Rust && strings.Contains(s.Signature, "'")
	isHidden := hasLifetime || lang == Python && isWrapped(s.Signature)
	parts, ok := s.parameters()
	if !ok || !isCalled || isHidden {
		return 0, 0, false
	}
	switch lang {
	case Go, TypeScript, TSX, Python, Rust:
	default:
		return 0, 0, false // not read, or any number is allowed
	}
	for i, param := range parts.params {
		required, possible := argumentsOf(param, lang)
		isBound := i == 0 && s.Kind == Method && !strings.Contains(s.Signature, "@staticmethod")
		if isBound && lang == Python {
			required = 0 // Type.method(value) is a call, too
		}
		least += required
		most = min(NoMost, most+possible)
	}
	return least, most, true
}

// argumentsOf returns how many arguments of a call one parameter stands for.
func argumentsOf(param string, lang Language) (required, possible int) {
	name, _, _ := strings.Cut(param, ":")
	isRest := func(part string) bool { return strings.HasPrefix(part, "...") }
	isSelf := lang == Rust && HasWord(name, "self")
	isPython := lang == Python
	switch {
	case isSelf, strings.TrimSpace(name) == "this", slices.Contains([]string{"", "*", "/"}, param):
		return 0, 0
	case slices.ContainsFunc(splitList(param, ' '), isRest), isPython && strings.HasPrefix(param, "*"):
		return 0, NoMost
	case strings.HasSuffix(name, "?"), len(splitList(param, '=')) > 1:
		return 0, 1
	}
	return 1, 1
}

// Results returns the number of results of a function or method of Go; ok is false if the signature is cut.
func (s *Symbol) Results() (n int, ok bool) {
	parts, ok := s.parameters()
	return len(goParameters(parts.after)), ok
}
