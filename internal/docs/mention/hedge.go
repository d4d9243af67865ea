package mention

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A hedge is how far the words around a mention weaken it.
type hedge int

const (
	unhedged hedge = iota
	// doubtful: the words call it an example, a plan or the reader's own. They do not excuse a mention of
	// something that existed when it was written and is gone.
	doubtful
	// saidGone: the words call it removed or missing.
	saidGone
)

// hedgeOf returns the hedge of a sentence.
func hedgeOf(sentence string) hedge {
	if strings.ContainsFunc(sentence, func(r rune) bool { return r >= utf8.RuneSelf }) {
		for _, p := range goneElsewhere {
			if strings.Contains(sentence, p) {
				return saidGone
			}
		}
	}
	most := unhedged
	var before [2]string // the two words before
	for word := range lowerWords(sentence) {
		for _, phrase := range []string{word, before[1] + "_" + word, before[0] + "_" + before[1] + "_" + word} {
			if goneWords.has(phrase) {
				return saidGone
			}
			if doubts.has(phrase) {
				most = doubtful
			}
		}
		before[0], before[1] = before[1], word
	}
	if most == unhedged && slices.ContainsFunc(doubtsElsewhere, func(p string) bool { return strings.Contains(sentence, p) }) {
		return doubtful
	}
	return most
}

// hedgeOfHeading returns the hedge of a heading, for the text below it.
func hedgeOfHeading(text string) hedge {
	const plan = "plan:"
	text = strings.TrimSpace(text)
	if len(text) >= len(plan) && strings.EqualFold(text[:len(plan)], plan) {
		return saidGone
	}
	most := hedgeOf(text)
	before := ""
	for word := range lowerWords(text) {
		switch {
		case goneHeadings.has(word) || before == "implementation" && word == "plan":
			return saidGone
		case doubtHeadings.has(word):
			most = max(most, doubtful)
		}
		before = word
	}
	return most
}

// lowerWords yields the words of a text in lower case.
func lowerWords(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range s {
			in := unicode.IsLetter(r) && r < 0x2e80 || r == '\'' || r == '’'
			if in && start < 0 {
				start = i
			}
			if !in && start >= 0 {
				if !yield(lower(s[start:i])) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(lower(s[start:]))
		}
	}
}

func lower(s string) string {
	if len(s) > 40 {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}

// sentences returns the ends of the sentences in a text. A row of a table is a sentence.
func sentences(text string) []int {
	var ends []int
	row := false
	for i := 0; i < len(text); {
		if i == 0 || text[i-1] == '\n' {
			row = text[i] == '|'
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\n' && (row || i < len(text) && text[i] == '|'):
			ends = append(ends, i)
		case row:
		case r == '。' || r == '！' || r == '？' || r == '؟':
			ends = append(ends, i)
		case r == '.' || r == '!' || r == '?' || r == ';':
			if i < len(text) && text[i] != ' ' && text[i] != '\n' && text[i] != '\t' || r == '.' && abbreviated(text[:i]) {
				continue
			}
			next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[i:min(len(text), i+8)], " \n\t"))
			if r == '.' && unicode.IsLower(next) {
				continue
			}
			ends = append(ends, i)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(text) {
		ends = append(ends, len(text))
	}
	return ends
}

// abbreviated reports whether the dot at the end of a text belongs to an abbreviation.
func abbreviated(text string) bool {
	for _, a := range []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "E.g.", "I.e.", "approx.", "incl.", "ex.", "z.B.", "p.ej."} {
		if strings.HasSuffix(text, a) {
			return true
		}
	}
	return false
}

var (
	// goneWords say that something no longer exists, or not at this path.
	goneWords = lexicon{text: `removed deleted renamed obsolete formerly previously old dropped superseded defunct retired
		historically IsHistorical generated gitignored untracked nonexistent
		used_to no_longer instead_of replaced_by replaces not_exist doesn't_exist don't_exist didn't_exist never_existed
		moved_to moved_from moved_into going_away went_away is_gone are_gone
		replacement_for successor_to in_place_of in_favor_of in_favour_of before_this never_had
		there_is_no there_are_no there's_no entfernt veraltet eliminado obsoleto removido`}
	doubts = lexicon{text: `deprecated legacy was were would create planned todo
		imagine suppose supposing your hypothetical hypothetically proposed proposal someday eventually tbd wip
		will_be to_be_created add_a_new add_new for_example for_instance such_as e_g not_yet
		has_been had_been have_been to_be_added to_be_written will_live will_become
		let's_say if_you_have say_you creating_a create_a created_a new_file new_files pretend like_this
		names_like paths_like files_like ids_like something_like add_files add_a_file
		por_ejemplo por_exemplo zum_beispiel z_b`}
	goneHeadings = lexicon{text: `migration migrations migrating history removed removal removals changelog roadmap future ideas planned plans upgrading upgrade obsolete
		breaking proposal proposals alternatives rejected superseded previously archive postmortem before`}
	doubtHeadings = lexicon{text: `example examples sample samples tutorial walkthrough background motivation`}
	// goneElsewhere and doubtsElsewhere are the same in languages with other letters than ASCII.
	goneElsewhere = []string{
		"已删除", "已移除", "删除了", "移除了", "废弃", "弃用", "不再", "以前", "曾经", "旧的", "重命名",
		"削除", "廃止", "以前は", "삭제", "устарел", "удалён", "удален", "supprimé", "obsolète", "früher", "gelöscht",
	}
	doubtsElsewhere = []string{"例如", "比如", "示例", "例えば", "예를 들어", "например"}
)
