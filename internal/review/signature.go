package review

import (
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
)

// signatures lists the users of symbols whose callers must change, in languages whose compiler does not check
// calls. In other languages it counts them, if All is set.
func (j *judge) signatures() error {
	checked := 0
	for _, s := range j.Change.Signatures {
		if !unchecked(s.File.After.Language) {
			checked++
			continue
		}
		if !incompatible(s.File.After.Language, s.Before, s.After) {
			continue
		}
		if err := j.callers(s.File.Path, s.After.FullName()); err != nil {
			return err
		}
	}
	if checked > 0 && j.All {
		l := Line{Kind: Also}
		l.setText(prose(english.Count(checked, "signature") + " that a compiler checks changed"))
		j.add(l)
	}
	return nil
}

// callers lists the files that call a symbol with changed parameters and that the change does not edit. An edited
// file counts as adapted.
func (j *judge) callers(p repo.Path, name string) error {
	users, err := j.Index.Users(j.ctx, p)
	if err != nil {
		return err
	}
	c := &cause{kind: Broken, verb: "calls ", command: "ken uses " + fault.Quote(string(p)+"#"+name)}
	c.what = []textPart{data(name), prose(" of "), data(p.String()), prose(", whose parameters this change alters")}
	for _, e := range users {
		calls := e.Symbol == name && e.Exact && len(e.Lines) > 0 && e.Kind == outline.UseCall
		if calls && !j.paths[e.From] {
			c.add(e.From, e.Lines...)
		}
	}
	j.addCause(c)
	return nil
}

// unchecked reports whether a language has no check of calls before they run.
func unchecked(lang outline.Language) bool {
	return slices.Contains([]outline.Language{outline.Python, outline.JavaScript, outline.Ruby, outline.PHP, outline.Bash}, lang)
}

// incompatible reports whether callers of a symbol may have to change, in a language that does not check them.
func incompatible(lang outline.Language, before, after *outline.Symbol) bool {
	if after.Kind != outline.Func && after.Kind != outline.Method {
		return false
	}
	was, ok := parameters(before)
	is, also := parameters(after)
	if !ok || !also {
		return false
	}
	for i, p := range was {
		if p.rest {
			continue
		}
		if i >= len(is) {
			return !hasRest(is)
		}
		named := lang == outline.Python || lang == outline.Ruby || lang == outline.PHP
		if named && is[i].name != p.name && !is[i].rest || p.optional && !is[i].optional && !is[i].rest {
			return true
		}
	}
	for i := len(was); i < len(is); i++ {
		if !is[i].optional && !is[i].rest {
			return !hasRest(was)
		}
	}
	return false
}

func hasRest(list []parameter) bool {
	return slices.ContainsFunc(list, func(p parameter) bool { return p.rest })
}

// A parameter is a parameter of a function.
type parameter struct {
	name     string
	optional bool
	rest     bool // it takes any number of arguments
}

// parameters parses the list in the first parentheses after the name of a symbol. Decorators may come before the
// name.
func parameters(s *outline.Symbol) (list []parameter, ok bool) {
	signature := s.Signature
	name := strings.LastIndex(signature, s.Name+"(")
	if name < 0 {
		name = max(0, strings.Index(signature, s.Name))
	}
	start := strings.IndexByte(signature[name:], '(')
	if start < 0 {
		return nil, false
	}
	start += name
	depth, from := 0, start+1
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" && text != "/" && text != "*" {
			list = append(list, parameterOf(text))
		}
	}
	for i := start; i < len(signature); i++ {
		switch signature[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
			if depth == 0 {
				add(signature[from:i])
				return list, true
			}
		case ',':
			if depth == 1 {
				add(signature[from:i])
				from = i + 1
			}
		}
	}
	return nil, false
}

func parameterOf(text string) parameter {
	p := parameter{rest: strings.HasPrefix(text, "*") || strings.HasPrefix(text, "...") || strings.HasPrefix(text, "&")}
	p.optional = strings.Contains(text, "=")
	text = strings.TrimLeft(text, "*.&")
	if i := strings.IndexByte(text, '$'); i >= 0 { // in PHP the type comes first
		text = text[i:]
	}
	end := strings.IndexAny(text, ":= ")
	if end < 0 {
		end = len(text)
	}
	p.name = text[:end]
	return p
}
