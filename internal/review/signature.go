package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
)

// signatures lists the users of symbols whose callers must change, in languages whose compiler does not check
// calls. In other languages it counts them, if All is set.
func (j *judge) signatures() error {
	for i := range j.Change.Signatures {
		s := &j.Change.Signatures[i]
		if !unchecked(s.File.After.Language) {
			j.checked++
			continue
		}
		if err := j.callers(s); err != nil {
			return err
		}
	}
	return nil
}

// compiled adds a line about the changed signatures that a compiler checks, if the review has no other line or All is
// set: their callers may be broken.
func (j *judge) compiled() error {
	isEmpty := len(j.review.Lines)+len(j.review.Unknown) == 0
	if j.checked > 0 && (j.All || isEmpty) {
		l := Line{Kind: Also}
		l.setText(prose(english.Count(j.checked, "signature") + " that a compiler checks changed"))
		j.add(l)
	}
	return nil
}

// callers lists the calls of a function with changed parameters that do not fit them, and those that may not.
func (j *judge) callers(s *change.Signature) error {
	p, name := s.File.Path, s.After.FullName()
	callee, symbol := s.After.Name, name
	for _, constructor := range []string{".__init__", ".constructor"} {
		if owner, ok := strings.CutSuffix(name, constructor); ok {
			callee, symbol = owner, owner
		}
	}
	users, err := j.Index.Users(j.ctx, p)
	if err != nil {
		return err
	}
	what := []textPart{data(name), prose(" of "), data(p.String()), prose(", whose parameters this change alters")}
	command := "ken uses " + fault.Quote(string(p)+"#"+name)
	wrong := &cause{kind: Broken, verb: "calls ", what: what, command: command}
	open := &cause{kind: MayUse, verb: "may call ", what: what, command: command}
	judge := func(from repo.Path, exact bool, isCall func(c call) bool) {
		for _, c := range callsIn(s.File.After.Language, string(j.Change.Read(from, false)), callee) {
			switch {
			case !isCall(c) || !c.breaks(s, j.paths[from]):
			case exact && !c.open:
				wrong.add(from, c.line)
			default:
				open.add(from, c.line)
			}
		}
	}
	for _, e := range users {
		if e.Symbol == symbol && len(e.Lines) > 0 && e.Kind == outline.UseCall {
			judge(e.From, e.Exact, func(c call) bool { return e.More > 0 || slices.Contains(e.Lines, c.line) })
		}
	}
	judge(p, true, func(c call) bool { return c.isOwnCall(s) })
	j.addCause(wrong)
	j.addCause(open)
	return nil
}

// unchecked reports whether a language has no check of calls before they run.
func unchecked(lang outline.Language) bool {
	return slices.Contains([]outline.Language{outline.Python, outline.JavaScript, outline.Ruby, outline.PHP, outline.Bash}, lang)
}

// A parameter is a parameter of a function.
type parameter struct {
	name        string
	optional    bool
	keywordOnly bool
	rest        bool // it takes any number of arguments
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
	onlyKeywords := false
	add := func(text string) {
		text = strings.TrimSpace(text)
		if text != "" && text != "/" && text != "*" {
			p := parameterOf(text)
			p.keywordOnly = onlyKeywords
			list = append(list, p)
		}
		onlyKeywords = onlyKeywords || strings.HasPrefix(text, "*")
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
