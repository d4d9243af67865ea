package review

import (
	"slices"
	"strings"
	"unicode"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
	"ken/internal/uses"
)

// A codeWord is a word of the code of a file: a name, a literal or one other character.
type codeWord struct {
	text string
	line int
}

// isOwnRead reports whether ken knows the words that declare a name in the language of a file.
func isOwnRead(f *change.File) bool {
	if f.Before == nil || f.After == nil {
		return false
	}
	switch uses.Family(f.OldPath()) {
	case outline.Go, outline.Python, outline.Rust, outline.TypeScript:
		return true
	default:
		return false
	}
}

var (
	scriptBlock  = lazyPattern(`(?s)<script\b[^>]*>(.*?)</script>`)
	interpolated = lazyPattern(`\{[^{}]*\}`)
	allNames     = lazyPattern(`^\s*from\b.*\bimport \*|^\s*(?:pub )?use .*\*;`)
)

// codeWords returns the words of the code of a changed file, with those that its strings interpolate. Of a component,
// it is the code of the scripts.
func codeWords(c *change.Change, f *change.File, before bool) (list codeWordList) {
	p := f.Path
	if before {
		p = f.OldPath()
	}
	text := string(c.Read(p, before))
	if isComponent(p) {
		kept := 0
		var script strings.Builder
		for _, at := range scriptBlock().FindAllStringSubmatchIndex(text, -1) {
			script.WriteString(strings.Repeat("\n", strings.Count(text[kept:at[2]], "\n")) + text[at[2]:at[3]])
			kept = at[3]
		}
		text = script.String()
	}
	line := 1
	seen := 0
	eachCodeWord(outline.LanguageOf(p, []byte(text)), text, func(at int, word string) {
		line += strings.Count(text[seen:max(seen, at)], "\n")
		seen = max(seen, at)
		list = append(list, codeWord{word, line})
	})
	return list
}

// eachCodeWord is like eachWord. The words of the code in a literal follow it.
func eachCodeWord(lang outline.Language, code string, see func(at int, word string)) {
	eachWord(lang, code, func(at int, word string) {
		see(at, word)
		if !isQuote(word[0]) || !hasCode(lang, code[:at], word[0]) {
			return
		}
		for _, part := range interpolated().FindAllStringIndex(word, -1) {
			eachWord(lang, word[part[0]+1:part[1]-1], func(i int, inside string) {
				if inside[0] != '\n' {
					see(at+part[0]+1+i, inside)
				}
			})
		}
	})
}

// hasCode reports whether the braces in a literal hold code.
func hasCode(lang outline.Language, before string, quote byte) bool {
	switch lang {
	case outline.Python:
		prefix := before[max(0, len(before)-2):]
		return strings.ContainsAny(prefix, "fF")
	case outline.Rust:
		return true
	default:
		return quote == '`' && lang != outline.Go
	}
}

// A codeWordList is the words of a file, in order.
type codeWordList []codeWord

func (c codeWordList) at(i int) string {
	if i < 0 || i >= len(c) {
		return " "
	}
	return c[i].text
}

// declares reports whether a word is a name that a declaration gives.
func (c codeWordList) declares(lang outline.Language, i int) bool {
	first := []rune(c[i].text)[0]
	if !unicode.IsLetter(first) && first != '_' && first != '$' {
		return false
	}
	switch c.at(i - 1) {
	case "def", "class", "fn", "func", "function", "const", "let", "var", "static", "struct", "enum", "trait",
		"interface":
		return c[i].text != "mut" && c[i].text != "fn" && c[i].text != "enum"
	case "mut":
		return c.at(i-2) == "let"
	case "type":
		return lang != outline.Python
	}
	if lang == outline.Go {
		return c.at(i+1) == ":" && c.at(i+2) == "="
	}
	isStatement := lang == outline.Python && strings.HasPrefix(c.at(i-1), "\n")
	return isStatement && c.at(i+1) == "=" && c.at(i+2) != "="
}

// uses reports whether a word is a plain name that a value has: no member, key or argument has that name.
func (c codeWordList) uses(i int) bool {
	isField := c.at(i-1) == "." && c.at(i-2) != "."
	isMember := isField || c.at(i-1) == ":" && c.at(i-2) == ":"
	next := c.at(i + 1)
	isGiven := (next == ":" || next == "=") && c.at(i+2) != next
	isKey := isGiven && strings.Contains("{,(", c.at(i-1))
	return !isMember && !isKey
}

// addOwn adds the plain uses of removed names in a changed file: of its symbols, and of what one of its functions
// declares within. A name that the change gives another declaration is still there.
func (u *unsureMentions) addOwn(f *change.File) {
	if f.Kind == repo.Deleted || !isOwnRead(f) {
		return
	}
	was := codeWords(u.Change, f, true)
	is := codeWords(u.Change, f, false)
	old := make(map[string]bool)
	for line := range strings.Lines(string(u.Change.Read(f.OldPath(), true))) {
		old[strings.TrimSpace(line)] = true
	}
	added := make(map[int]bool)
	n := 0
	for line := range strings.Lines(string(u.Change.Read(f.Path, false))) {
		n++
		added[n] = !old[strings.TrimSpace(line)]
		if added[n] && allNames().MatchString(line) {
			return // from another file
		}
	}
	places := make(map[string][]int) // of each word
	for i, w := range is {
		places[w.text] = append(places[w.text], i)
	}
	for i := range u.Change.Removed {
		s := &u.Change.Removed[i]
		_, isMember := s.Owner()
		isElsewhere := uses.Family(s.Path) == outline.Go && !u.isAsked(s)
		if s.Path != f.OldPath() || isMember || isElsewhere {
			continue
		}
		u.addLeft(f, is, places[s.Symbol.Name], added)
	}
	after := change.ByName(f.After)
	for i := range was {
		name := was[i].text
		if !was.declares(f.Before.Language, i) || len(places[name]) == 0 || isSymbolName(f.Before, name) {
			continue
		}
		around := innermost(f.Before, was[i].line)
		if around == nil {
			u.addLeft(f, is, places[name], added)
		} else if now := after[around.FullName()]; len(now) == 1 {
			u.addLeft(f, is, slices.DeleteFunc(slices.Clone(places[name]), func(k int) bool {
				return is[k].line < now[0].Line || now[0].EndLine < is[k].line
			}), added)
		}
	}
}

func isSymbolName(o *outline.Outline, name string) bool {
	return slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool { return s.Name == name })
}

// innermost returns the innermost symbol around a line, nil if there is none.
func innermost(o *outline.Outline, line int) (around *outline.Symbol) {
	for i := range o.Symbols {
		if s := &o.Symbols[i]; s.Kind != outline.Impl && s.Line <= line && line <= s.EndLine {
			around = s // a symbol precedes its members
		}
	}
	return around
}

// addLeft adds the uses of a name among its places in a file, unless one of them declares it, or an added line may do.
func (u *unsureMentions) addLeft(f *change.File, words codeWordList, places []int, added map[int]bool) {
	in := usage.FileLines{PathJSON: f.Path.JSON()}
	name := ""
	for _, i := range places {
		name = words[i].text
		line := words[i].line
		isNewName := added[line] && !strings.Contains("(.[", words.at(i+1))
		if isNewName || words.declares(f.After.Language, i) {
			return
		}
		if words.uses(i) && !slices.Contains(in.Lines, line) {
			in.Lines = append(in.Lines, line)
		}
	}
	isOfLanguage := slices.Contains(strings.Fields("clear filter format id input max min next open print type"), name)
	if len(in.Lines) > 0 && !isOfLanguage {
		u.add(usage.Unresolved{Files: 1, Places: []usage.FileLines{in}}, f.OldPath(), name)
	}
}

// mayRemove reports whether a change removes a declaration from a file that does not parse.
func mayRemove(c *change.Change, f *change.File) bool {
	if f.Before == nil || f.After == nil || f.Before.Partial+f.After.Partial == "" {
		return false
	}
	after := change.ByName(f.After)
	for name := range change.ByName(f.Before) {
		if after[name] == nil {
			return true
		}
	}
	is := codeWords(c, f, false)
	kept := make(map[string]bool)
	for i := range is {
		kept[is[i].text] = kept[is[i].text] || is.declares(f.After.Language, i)
	}
	was := codeWords(c, f, true)
	for i := range was {
		if was.declares(f.Before.Language, i) && !kept[was[i].text] {
			return true
		}
	}
	return false
}
