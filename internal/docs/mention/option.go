package mention

import "strings"

// optionOf returns the option in a word, as dry-run in --dry-run=x. An option of one word may mean too much.
func optionOf(s string) (nameInText, bool) {
	const dashes = "--"
	name, isOption := strings.CutPrefix(s, dashes)
	if i := strings.IndexAny(name, "=[<"); i >= 0 {
		name = name[:i]
	}
	first, rest, _ := strings.Cut(name, "-")
	hasTwoWords := len(first) >= 2 && len(rest) >= 2
	isName := identifier(strings.ReplaceAll(name, "-", "_")) && !placeholder(name)
	if !isOption || !hasTwoWords || !isName {
		return nameInText{}, false
	}
	end := len(dashes) + len(name)
	return nameInText{kind: Option, name: name, casual: true, start: len(dashes), end: end, text: Span{0, end}}, true
}

// optionWords returns the options in the commands of a text.
func optionWords(text string) []nameInText {
	var list []nameInText
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && strings.IndexByte(" \t\r\n'\"`()|;&{},", text[end]) < 0 {
			end++
		}
		if n, ok := optionOf(text[at:end]); ok {
			list = append(list, n.shift(at))
		}
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
