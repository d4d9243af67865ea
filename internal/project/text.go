package project

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ken/internal/fault"
	"ken/internal/repo"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

const (
	maxCommand = 300 // bytes of a command; a longer one is not offered
	maxText    = 240 // characters of a quoted line or description; a longer one is cut
)

// cleanText returns a text of the repository on one line, without misleading characters, of bounded length.
func cleanText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if repo.IsMisleading(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	runes := []rune(text)[:maxText-1]
	cut := string(runes)
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// cleanCommand reports whether a command can be offered as it is: on one line, short, and without characters
// that a terminal would hide.
func cleanCommand(run string) (string, bool) {
	run = strings.TrimSpace(run)
	ok := run != "" && len(run) <= maxCommand && utf8.ValidString(run) &&
		!strings.ContainsFunc(run, func(r rune) bool { return repo.IsMisleading(r) || unicode.Is(unicode.Cf, r) })
	return run, ok
}

// isName reports whether a name from a manifest needs no quotes in a command: a script, target,
// package or class.
func isName(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '-' {
		return false
	}
	return strings.Trim(name, letters+digits+"_-.:/@+") == ""
}

// quotePath returns a path as a word for a shell.
func quotePath(file repo.Path) string {
	if strings.HasPrefix(string(file), "-") {
		file = "./" + file
	}
	return quoteWord(string(file))
}

// quoteWord returns a word for a shell, quoted if it needs to be.
func quoteWord(word string) string {
	special := func(r rune) bool {
		return r <= unicode.MaxASCII && !strings.ContainsRune(letters+digits+"_-./:@%+=,", r)
	}
	if word != "" && word[0] != '=' && !strings.ContainsFunc(word, special) {
		return word
	}
	return fault.Quote(word)
}

// quoteWords returns a command of words.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		// An assignment keeps its name outside of the quotes.
		if name, value, ok := strings.Cut(word, "="); ok && isVariable(name) {
			quoted[i] = name + "=" + quoteWord(value)
			continue
		}
		quoted[i] = quoteWord(word)
	}
	return strings.Join(quoted, " ")
}

// isVariable reports whether a word is the name of an environment variable.
func isVariable(name string) bool {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, letters+digits+"_") == ""
}
