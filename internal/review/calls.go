package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/outline"
)

// A call is a call in the text of a file.
type call struct {
	line       int
	before     string // the name before the dot, "." if it is another expression, "" without a dot
	positional int
	keywords   []string
	open       bool // it has an argument that stands for any number of them
}

// callsIn returns the calls of a name in a file.
func callsIn(lang outline.Language, code, name string) []call {
	if !strings.Contains(code, name) {
		return nil
	}
	var texts wordList
	var at []int
	eachCodeWord(lang, code, func(i int, word string) {
		if word[0] != '\n' {
			texts = append(texts, word)
			at = append(at, i)
		}
	})
	word := texts.at
	var list []call
	for i, text := range texts {
		declares := slices.Contains([]string{"def", "function", "class"}, word(i-1))
		if text != name || word(i+1) != "(" || declares {
			continue
		}
		c := call{line: strings.Count(code[:at[i]], "\n") + 1}
		if word(i-1) == "." {
			c.before = "."
			if isName(word(i - 2)[0]) && word(i-3) != "." {
				c.before = word(i - 2)
			}
		}
		c.addArguments(texts[i+2:])
		list = append(list, c)
	}
	return list
}

// addArguments reads the arguments up to the parenthesis that closes them.
func (c *call) addArguments(words []string) {
	depth, first := 0, 0
	for i, w := range words {
		switch w {
		case "(", "[", "{":
			depth++
			continue
		case ")", "]", "}":
			depth--
		case ",":
		default:
			continue
		}
		if depth > 0 || depth == 0 && w != "," {
			continue
		}
		c.addArgument(words[first:i])
		first = i + 1
		if depth < 0 {
			return
		}
	}
	c.open = true // nothing closes them
}

func (c *call) addArgument(words []string) {
	switch {
	case len(words) == 0:
	case words[0] == "*", words[0] == "&", words[0] == "." && len(words) > 2 && words[1] == ".", slices.Contains(words, "for"):
		c.open = true
	case len(words) > 2 && isName(words[0][0]) && (words[1] == "=" && words[2] != "=" || words[1] == ":"):
		c.keywords = append(c.keywords, words[0])
	default:
		c.positional++
	}
}

// breaks reports whether a call was right before a signature changed, and may not be after it. In an edited file, a
// call that fits both signatures counts as adapted.
func (c *call) breaks(s *change.Signature, edited bool) bool {
	was, ok := parameters(s.Before)
	is, also := parameters(s.After)
	if !ok || !also {
		return false
	}
	was, is = c.withoutSelf(s, was), c.withoutSelf(s, is)
	if c.open {
		return !sameParameters(was, is)
	}
	return c.fits(was) && (!c.fits(is) || !edited && c.bindsOthers(was, is))
}

// bindsOthers reports whether an argument without a name is for another parameter now.
func (c *call) bindsOthers(was, is []parameter) bool {
	for i := range min(c.positional, len(was), len(is)) {
		isMoved := slices.ContainsFunc(is, func(p parameter) bool { return p.name == was[i].name && p.name != is[i].name })
		if isMoved {
			return true
		}
	}
	return false
}

// sameParameters reports whether all calls that fit some parameters fit others, whatever their arguments are.
func sameParameters(was, is []parameter) bool {
	return len(was) <= len(is) && slices.Equal(was, is[:len(was)]) && !slices.ContainsFunc(is[len(was):], func(p parameter) bool { return !p.optional && !p.rest })
}

// withoutSelf drops the parameter for the value before the dot.
func (c *call) withoutSelf(s *change.Signature, list []parameter) []parameter {
	if len(list) == 0 || s.After.Kind != outline.Method || !slices.Contains([]string{"self", "cls"}, list[0].name) {
		return list
	}
	owner, _, _ := strings.Cut(s.After.FullName(), ".")
	if c.before == owner && list[0].name == "self" {
		return list // the caller passes the value: Type.method(value)
	}
	return list[1:]
}

// isOwnCall reports whether a call in the file of a function is one of it: by its plain name, or on the value itself
// inside the class.
func (c *call) isOwnCall(s *change.Signature) bool {
	owner, _, isMember := strings.Cut(s.After.FullName(), ".")
	symbols := s.File.After.Symbols
	around := func(o outline.Symbol) bool { return c.line >= o.Line && c.line <= o.EndLine }
	hides := func(o outline.Symbol) bool {
		list, _ := parameters(&o)
		return around(o) && slices.ContainsFunc(list, func(p parameter) bool { return p.name == s.After.Name })
	}
	inOwner := func(o outline.Symbol) bool { return o.FullName() == owner && around(o) }
	switch {
	case slices.ContainsFunc(symbols, func(o outline.Symbol) bool { return o.Name == s.After.Name && o.Line == c.line }):
		return false // its declaration, or another one of the name
	case isMember && !slices.Contains([]string{"__init__", "constructor"}, s.After.Name):
		return slices.Contains([]string{"self", "this", "cls"}, c.before) && slices.ContainsFunc(symbols, inOwner)
	default:
		return c.before == "" && !slices.ContainsFunc(symbols, hides)
	}
}

// fits reports whether a call may be right with some parameters of a function.
func (c *call) fits(is []parameter) bool {
	given := make(map[string]bool)
	for _, name := range c.keywords {
		known := slices.ContainsFunc(is, func(p parameter) bool { return p.name == name || p.rest })
		if !known {
			return false
		}
		given[name] = true
	}
	left := c.positional
	for _, p := range is {
		switch {
		case p.rest:
			left = 0
		case left > 0 && !p.keywordOnly:
			if given[p.name] {
				return false
			}
			left--
		case !p.optional && !given[p.name]:
			return false
		}
	}
	return left == 0
}
