package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

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
const maxRules = 12

// maxGeneral is how many of them may be about the whole repository.
const maxGeneral = 8

// maxFacts is how many of them may say what a path is, and not what to do.
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

// Rules returns what documents above a path state for it, the most particular first: lines that name the path, its
// directory or a pattern of its name, then the rules of documents in directories above it, then those for the whole
// repository. There are at most twelve.
func (p *Project) Rules(file repo.Path) []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	type ranked struct {
		Rule
		about int
		depth int // of the directory that is named or that the document is about
		binds bool
		agent bool
	}
	var list []ranked
	isTest := p.isTest(file)
	for _, doc := range p.ruleFiles {
		scope := ruleScope(doc)
		if !file.Under(scope) {
			continue
		}
		globs, always, lines := p.ruleLines(doc)
		selected := len(globs) > 0 && !always
		rel, _ := relative(scope, file)
		if selected && !matchesAny(anywhere(globs), rel) {
			continue
		}
		forAgents := !strings.EqualFold(strings.TrimSuffix(doc.Base(), path.Ext(doc.Base())), "contributing")
		for _, l := range lines {
			about, depth := p.about(l.text, scope, file)
			// A rule such as "never edit gen.go" is for that file only; "update CHANGELOG.md" is for all.
			onlyThere := about == aboutOtherPath && (noTouch().MatchString(l.text) || !bindingWord().MatchString(l.text))
			if onlyThere || l.row && about > aboutPattern {
				continue
			}
			if about > aboutPattern && l.binding {
				inHeading, d := p.about(l.heading, scope, file)
				switch {
				case about == aboutOtherName || inHeading == aboutOtherPath || inHeading == aboutOtherName || isProcedure(l.text):
					about = aboutNothing
				case inHeading <= aboutPattern:
					about, depth = inHeading, d
				case isTest && strings.Contains(strings.ToLower(l.heading), "test"):
					about = aboutPattern
				case scope != "" || selected:
					about, depth = aboutScope, strings.Count(string(scope), "/")+1
				default:
					about = aboutAll
				}
			}
			if about > aboutAll {
				continue
			}
			list = append(list, ranked{Rule{l.text, doc, l.line, about == aboutAll}, about, depth, l.binding, forAgents})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		if c := cmp.Compare(a.about, b.about); c != 0 {
			return c
		}
		if c := cmp.Compare(b.depth, a.depth); c != 0 {
			return c
		}
		if a.binds != b.binds {
			return ahead(a.binds)
		}
		if a.agent != b.agent {
			return ahead(a.agent)
		}
		return 0
	})
	var rules []Rule
	general := 0
	facts := 0
	for _, r := range list {
		same := func(o Rule) bool { return o.Text == r.Text } // CLAUDE.md is often a copy of AGENTS.md
		if len(rules) == maxRules || r.General && general == maxGeneral || !r.binds && facts == maxFacts || slices.ContainsFunc(rules, same) {
			continue
		}
		if r.General {
			general++
		}
		if !r.binds {
			facts++
		}
		rules = append(rules, r.Rule)
	}
	return rules
}

// ahead orders two elements of which one fulfils a condition: the first, if holds is set.
func ahead(holds bool) int {
	if holds {
		return -1
	}
	return 1
}

// anywhere makes globs without a slash match in all directories.
func anywhere(globs []string) []string {
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
	codeSpan    = later("`([^`]+)`")
	pathWord    = later(`(?:^|[\s("'])(\.{0,2}[\w.@*-]*/[\w.@*{},/-]*)`)
	markdownURL = later(`!?\[([^\]]*)\]\([^)]*\)|!?\[([^\]]*)\]\[[^\]]*\]`)
)

// about returns how closely a text is about a file by what it names, and the depth of the directory that it names.
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
			globs := anywhere([]string{word})
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

