package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
	"ken/internal/uses"
)

// signatures lists the users of symbols whose callers must change, in languages whose compiler does not check
// calls, and in TypeScript, whose calls may stand in files that no compiler sees. compiled counts the others.
func (j *judge) signatures() error {
	for i := range j.Change.Signatures {
		s := &j.Change.Signatures[i]
		if s.After.Kind == outline.Class {
			continue // its constructor has the parameters
		}
		lang := s.File.After.Language
		isScript := lang == outline.TypeScript || lang == outline.TSX
		if !unchecked(lang) {
			j.compilerChecked = append(j.compilerChecked, s)
		}
		isOverloaded := len(change.ByName(s.File.After)[s.After.FullName()]) > 1
		if !unchecked(lang) && (!isScript || isOverloaded) {
			continue
		}
		if err := j.callers(s); err != nil {
			return err
		}
	}
	return nil
}

// compiled adds a line about the changed signatures that a compiler checks, with the users that the change left as they
// were, unless another line says that something may be broken. With All it always does. Without such users, the review
// only counts the signatures.
func (j *judge) compiled() error {
	isQuiet := func(l Line) bool { return l.Kind == Tests || l.Kind == Stale || l.Kind == Also }
	isTold := len(j.review.Unknown) > 0 || slices.ContainsFunc(j.review.Lines, func(l Line) bool { return !isQuiet(l) })
	if isTold && !j.All {
		return nil
	}
	count := 0
	c := &cause{kind: MayUse, verb: "uses "}
	for _, s := range j.compilerChecked {
		if s.After.Kind != outline.Func && s.After.Kind != outline.Method {
			continue // its value may have changed
		}
		name := s.After.FullName()
		if count++; count == 1 {
			c.what = []textPart{data(name), prose(" of "), data(s.File.Path.String())}
			c.command = "ken uses " + fault.Quote(string(s.File.Path)+"#"+name)
		}
		users, err := j.Index.Users(j.ctx, s.File.Path)
		if err != nil {
			return err
		}
		for _, e := range users {
			if e.Symbol == name && !j.paths[e.From] {
				c.add(e.From)
			}
		}
	}
	j.review.Signatures += count
	if more := count - 1; more > 0 {
		c.what = append(c.what, prose(" or "+english.Count(more, "more function")))
	}
	c.what = append(c.what, prose(", whose signature this change alters: a compiler checks it"))
	j.addCause(c)
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
	if callee != name && callee == s.After.Name { // a member of values whose type may be unknown
		found, err := usage.NewMentionSearch(j.ctx, j.Index, j.Tree, nil).Of(p, s.After)
		if err != nil {
			return err
		}
		for _, f := range found.Places {
			if from, err := f.Raw(); err == nil && uses.Family(from) == uses.Family(p) {
				judge(from, false, func(c call) bool { return c.before != "" && slices.Contains(f.Lines, c.line) })
			}
		}
	}
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
		isParameter := text != "" && text != "/" && text != "*"
		if isParameter && !strings.HasPrefix(text, "this:") { // this of TypeScript is the receiver
			p := parameterOf(text)
			p.keywordOnly = onlyKeywords
			list = append(list, p)
		}
		onlyKeywords = onlyKeywords || strings.HasPrefix(text, "*")
	}
	for i := start; i < len(signature); i++ {
		switch signature[i] {
		case '(', '[', '{', '<':
			depth++
		case '>':
			if c := signature[i-1]; c != '=' && c != '-' {
				depth--
			}
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
	head, _, _ := strings.Cut(text, ":")
	p.optional = strings.Contains(strings.ReplaceAll(text, "=>", ""), "=") || strings.HasSuffix(head, "?")
	text = strings.TrimLeft(text, "*.&")
	if i := strings.IndexByte(text, '$'); i >= 0 { // in PHP the type comes first
		text = text[i:]
	}
	end := strings.IndexAny(text, ":?= ")
	if end < 0 {
		end = len(text)
	}
	p.name = text[:end]
	return p
}
