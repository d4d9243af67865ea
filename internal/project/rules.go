package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/order"
	"ken/internal/repo"
)

// A Rule is a sentence or list item of a document that tells people or agents how to work.
type Rule struct {
	Text   string // one line without control characters, at most 240 characters
	Source repo.Path
	Line   int
	// General is set if the rule is about the whole repository, and neither its text nor its document is about
	// this path in particular.
	General bool
}

// maxRules is how many rules are listed for a path.
const maxRules = 14

// maxGeneral is how many of them may be about the whole repository.
const maxGeneral = 10

// maxFacts is how many of them may describe a path without an instruction.
const maxFacts = 3

// How closely a rule is about a path; smaller is closer.
const (
	aboutFile = iota
	aboutDir
	aboutPattern
	aboutScope
	aboutAll
	aboutOtherName // it names a pattern that this path does not have
	aboutOtherPath // it names another file or directory
	aboutNothing
)

// A rankedRule is a rule with the values that determine its rank.
type rankedRule struct {
	Rule
	about int
	depth int // of the directory that is named or that the document is about
	force int
	agent bool // from a document for agents
	topic int
	score int
}

// Rules returns the rules for a path in the documents above it, the most specific first: lines that name the path, its
// directory, a pattern of its name or its language, then the rules of documents in directories above it, then those for
// the whole repository that matter most for a change of code. There are at most maxRules.
func (p *Project) Rules(file repo.Path) []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	var own, general []rankedRule
	for _, doc := range p.ruleDocs(file) {
		for _, r := range p.rulesOf(doc, file) {
			same := func(o rankedRule) bool { return sameRule(o.Text, r.Text) }
			switch {
			case slices.ContainsFunc(own, same) || slices.ContainsFunc(general, same):
			case r.General:
				general = append(general, r)
			default:
				own = append(own, r)
			}
		}
	}
	slices.SortStableFunc(own, func(a, b rankedRule) int {
		return cmp.Or(cmp.Compare(a.about, b.about), cmp.Compare(b.depth, a.depth), order.TrueFirst(a.force > 0, b.force > 0), order.TrueFirst(a.agent, b.agent))
	})
	slices.SortStableFunc(general, func(a, b rankedRule) int { return order.TrueFirst(a.agent, b.agent) })
	var rules []Rule
	facts := 0
	for _, r := range own {
		if r.force == 0 {
			facts++
		}
		if len(rules) < maxRules && (r.force > 0 || facts <= maxFacts) {
			rules = append(rules, r.Rule)
		}
	}
	for _, r := range pickRules(general, min(maxGeneral, maxRules-len(rules))) {
		rules = append(rules, r.Rule)
	}
	return rules
}

// sameRule reports whether two rules say the same or begin with the same words: CLAUDE.md is often a copy of AGENTS.md.
func sameRule(a, b string) bool {
	const enough = 50
	return a == b || len(a) > enough && len(b) > enough && strings.EqualFold(a[:enough], b[:enough])
}

// rulesOf returns the rules of one document that apply to a path, in the order of the document.
func (p *Project) rulesOf(doc ruleDoc, file repo.Path) []rankedRule {
	globs, always, lines := p.ruleLines(doc.file)
	selected := len(globs) > 0 && !always
	rel, _ := relative(doc.scope, file)
	if selected && !matchesAny(inAnyDirectory(globs), rel) {
		return nil
	}
	var list []rankedRule
	for i := range lines {
		l := &lines[i]
		about, depth := p.ruleAbout(l, doc.scope, file, selected)
		if about > aboutAll {
			continue
		}
		r := rankedRule{
			Rule:  Rule{Text: l.text, Source: doc.file, Line: l.line, General: about == aboutAll},
			about: about, depth: depth, force: l.force, agent: isAgentFile(doc.file), topic: l.topic, score: l.score(),
		}
		if r.agent {
			r.score++
		}
		if !r.General || r.score >= minScore {
			list = append(list, r)
		}
	}
	return list
}

// ruleAbout returns how closely a line of a document applies to a path, and the depth of the directory that it names.
func (p *Project) ruleAbout(l *ruleLine, scope, file repo.Path, selected bool) (about, depth int) {
	about, depth = p.about(l.text, scope, file)
	if about <= aboutPattern {
		return about, depth
	}
	isRoot := file == ""
	// A rule such as "never edit gen.go" is for that file only; "update CHANGELOG.md" is for all.
	onlyThere := about == aboutOtherPath && !isRoot && noTouch().MatchString(l.text)
	if onlyThere || l.row || l.force == 0 || about == aboutOtherName {
		return aboutNothing, 0
	}
	lang := ruleLanguage(file)
	named := l.languageNamed()
	inHeading, d := p.about(l.heading, scope, file)
	switch {
	case inHeading <= aboutPattern:
		return inHeading, d
	case named != "" && named == lang:
		return aboutPattern, 0
	case named != "" && lang != "":
		return aboutNothing, 0
	case (inHeading == aboutOtherPath || inHeading == aboutOtherName) && !isRoot:
		return aboutNothing, 0
	case p.isTest(file) && (testHeading().MatchString(l.heading) || forTests().MatchString(l.text)):
		return aboutPattern, 0
	case scope != "" || selected:
		return aboutScope, strings.Count(string(scope), "/") + 1
	}
	return aboutAll, 0
}

var (
	testHeading = lazyRegexp(`(?i)\btest(?:s|ing)?\b`)
	forTests    = lazyRegexp(`(?i)^(?:in|for) (?:\w+ )?tests?\b`)
)

// inAnyDirectory makes globs without a slash match in all directories.
func inAnyDirectory(globs []string) []string {
	out := make([]string, len(globs))
	for i, glob := range globs {
		if !strings.Contains(strings.TrimSuffix(glob, "/"), "/") {
			glob = "**/" + glob
		}
		out[i] = strings.TrimPrefix(glob, "/")
	}
	return out
}

var (
	codeSpan    = lazyRegexp("`([^`]+)`")
	pathWord    = lazyRegexp(`(?:^|[\s("'])(\.{0,2}[\w.@*-]*/[\w.@*{},/-]*)`)
	markdownURL = lazyRegexp(`!?\[([^\]]*)\]\([^)]*\)|!?\[([^\]]*)\]\[[^\]]*\]`)
)

// about returns how closely the names in a text match a file, and the depth of the directory that the text names.
func (p *Project) about(text string, scope, file repo.Path) (int, int) {
	best, depth := aboutNothing, 0
	take := func(about, d int) {
		if about < best || about == best && d > depth {
			best, depth = about, d
		}
	}
	try := func(word string, code bool) {
		word = strings.TrimRight(word, ".,;:!?)'\"")
		word = strings.TrimSuffix(word, "/...")
		dirOnly := strings.HasSuffix(word, "/")
		word = strings.Trim(strings.TrimPrefix(word, "./"), "/")
		if word == "" || strings.Contains(word, "//") {
			return
		}
		if strings.ContainsAny(word, "*{") {
			if strings.Trim(word, "*./{}") == "" {
				return
			}
			rel, _ := relative(scope, file)
			globs := inAnyDirectory([]string{word})
			if matchesAny(globs, string(file)) || matchesAny(globs, rel) {
				take(aboutPattern, strings.Count(word, "/"))
			} else if strings.ContainsAny(word, "./") {
				take(aboutOtherName, 0)
			}
			return
		}
		whole := strings.Contains(word, "/") || dirOnly
		for _, named := range []repo.Path{join(scope, word), join("", word)} {
			switch {
			case named == "":
			case named == file && (whole || code):
				take(aboutFile, 0)
			case whole && file.Under(named) && named != file:
				take(aboutDir, strings.Count(string(named), "/")+1)
			case whole && (p.has(named) || p.isDir(named)):
				take(aboutOtherPath, 0)
			}
		}
		if !code || dirOnly {
			return
		}
		if strings.Contains(word, ".") && word == file.Base() && word[0] != '.' {
			take(aboutFile, 0)
		}
		if word[0] == '.' && word == path.Ext(file.Base()) {
			take(aboutPattern, 0)
		}
	}
	for _, m := range codeSpan().FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			try(word, true)
		}
	}
	for _, m := range pathWord().FindAllStringSubmatch(codeSpan().ReplaceAllString(text, " "), -1) {
		try(m[1], false)
	}
	return best, depth
}
