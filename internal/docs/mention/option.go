package mention

import "strings"

// optionOf returns the option in a word, as dry-run in --dry-run=x.
func optionOf(s string) (nameInText, bool) {
	const dashes = "--"
	name, isOption := strings.CutPrefix(s, dashes)
	if i := strings.IndexAny(name, "=[<"); i >= 0 {
		name = name[:i]
	}
	n, ok := keyOf(name, len(dashes))
	isWord := len(name) > 3 && identifier(name) && !placeholder(name)
	return n, isOption && (ok || isWord)
}

// keyOf returns the name of an option or of a key in a configuration, which has several words: max-retries. The name begins
// at a position.
func keyOf(name string, start int) (nameInText, bool) {
	first, rest, _ := strings.Cut(name, "-")
	hasTwoWords := len(first) >= 2 && len(rest) >= 2
	isName := identifier(strings.ReplaceAll(name, "-", "_")) && !placeholder(name)
	end := start + len(name)
	n := nameInText{kind: Option, name: name, casual: true, start: start, end: end, text: Span{0, end}}
	return n, hasTwoWords && isName
}

// optionWords returns the options in the commands of a text. One of a single word counts if the program is not one that
// many projects use.
func optionWords(text string) []nameInText {
	var list []nameInText
	isKnown, isFirst := false, true
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && strings.IndexByte(" \t\r\n'\"`()|;&{},", text[end]) < 0 {
			end++
		}
		word := text[at:end]
		if isFirst && word != "" {
			isKnown, isFirst = heads.has(word), false
		}
		n, ok := optionOf(word)
		if ok && (!isKnown || strings.Contains(n.name, "-")) {
			list = append(list, n.shift(at))
		}
		isFirst = isFirst || end < len(text) && strings.IndexByte("\n|;&", text[end]) >= 0
		at = end + 1
	}
	return list
}

// OptionWord returns the word that identifies an option in all its spellings, "" if the word has only one part: dryrun
// for dry-run, dry_run, DRY_RUN and dryRun. It uses the bytes of buffer.
func OptionWord(word, buffer []byte) []byte {
	out := buffer[:0]
	parts := false
	for i, b := range word {
		switch {
		case b == '-' || b == '_':
			parts = parts || len(out) > 0 && i+1 < len(word)
		case 'A' <= b && b <= 'Z':
			parts = parts || i > 0
			out = append(out, b|0x20)
		default:
			out = append(out, b)
		}
	}
	if !parts {
		return nil
	}
	return out
}
