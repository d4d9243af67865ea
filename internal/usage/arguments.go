package usage

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// withFittingCalls returns the lines of a file with members of unknown values, without the calls whose number of
// arguments none of some methods takes.
func (m *MentionSearch) withFittingCalls(f repo.File, open *FileLines, methods []outline.Symbol) []int {
	lang := outline.LanguageOf(f.Path, nil)
	takes := func(n int) bool {
		return slices.ContainsFunc(methods, func(s outline.Symbol) bool {
			least, most, known := s.Arguments(lang)
			return !known || least <= n && n <= most
		})
	}
	const unlikely = 250 // a number of arguments that only a list of any length takes
	isAny := takes(unlikely)
	if isAny || open.More > 0 || len(open.Lines) == 0 {
		return open.Lines
	}
	content := string(m.tree.Read(m.ctx, f.Path))
	called := regexp.MustCompile(`\.\s*` + regexp.QuoteMeta(methods[0].Name) + `\b`)
	fits := make(map[int]bool)
	counted := make(map[int]bool)
	for _, at := range called.FindAllStringIndex(content, -1) {
		line := 1 + strings.Count(content[:at[1]], "\n")
		n, known := argumentsIn(content[at[1]:])
		counted[line] = true
		fits[line] = fits[line] || !known || takes(n)
	}
	return slices.DeleteFunc(open.Lines, func(line int) bool { return counted[line] && !fits[line] })
}

// argumentsIn returns the number of arguments in a text that begins with the brackets of a call. It is not known if
// there is no such call, if an argument may stand for several, or if a comma may be part of one.
func argumentsIn(text string) (n int, known bool) {
	const longest = 2000
	text = text[:min(len(text), longest)]
	if !strings.HasPrefix(text, "(") {
		return 0, false
	}
	depth := 0
	commas := 0
	isEmpty := true // since the last comma
	for i := 0; i < len(text); i++ {
		c := text[i]
		isUnclear := strings.IndexByte("<|/#`*\\", c) >= 0
		isSpread := strings.HasPrefix(text[i:], "...") || strings.HasPrefix(text[i:], "lambda")
		switch {
		case isUnclear || isSpread:
			return 0, false
		case c == '"' || c == '\'':
			length := strings.IndexByte(text[i+1:], c)
			if length < 0 {
				return 0, false
			}
			end := i + 1 + length
			if strings.Contains(text[i:end], "\\") || strings.HasPrefix(text[i:], `"""`) {
				return 0, false
			}
			i = end
			isEmpty = false
		case strings.IndexByte("([{", c) >= 0:
			isEmpty = isEmpty && depth == 0
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
			if depth == 0 {
				n := commas
				if !isEmpty { // nothing may follow the last comma
					n++
				}
				mayBeMore := n == 1 && strings.Contains(text[1:i], "(") // the call in it may have several results
				return n, !mayBeMore
			}
		case c == ',' && depth == 1:
			commas++
			isEmpty = true
		case strings.IndexByte(" \t\r\n", c) < 0:
			isEmpty = false
		}
	}
	return 0, false
}
