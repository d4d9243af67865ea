package docs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hedged reports whether a sentence says of what it names that it is not there, or
// is an example.
func hedged(sentence string) bool {
	if strings.ContainsFunc(sentence, func(r rune) bool { return r >= utf8.RuneSelf }) {
		for _, p := range hedgesElsewhere {
			if strings.Contains(sentence, p) {
				return true
			}
		}
	}
	var before [2]string // the two words before
	for word := range lowerWords(sentence) {
		if hedges.has(word) || before[1] != "" && hedges.has(before[1]+"_"+word) ||
			before[0] != "" && hedges.has(before[0]+"_"+before[1]+"_"+word) {
			return true
		}
		before[0], before[1] = before[1], word
	}
	return false
}

// hedgedHeading reports whether a heading says so of all that is below it.
func hedgedHeading(text string) bool {
	before := ""
	for word := range lowerWords(text) {
		if hedgingHeadings.has(word) || before == "implementation" && word == "plan" {
			return true
		}
		before = word
	}
	const plan = "plan:"
	text = strings.TrimSpace(text)
	return len(text) >= len(plan) && strings.EqualFold(text[:len(plan)], plan) || hedged(text)
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

// sentences returns where the sentences of a text end. A row of a table is one.
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

// abbreviated reports whether the dot that a text ends with belongs to a word.
func abbreviated(text string) bool {
	for _, a := range []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "E.g.", "I.e.", "approx.", "incl.", "ex.", "z.B.", "p.ej."} {
		if strings.HasSuffix(text, a) {
			return true
		}
	}
	return false
}

var (
	hedges = lexicon{text: `removed deleted renamed deprecated obsolete legacy formerly previously was were old would create planned todo
		imagine suppose supposing your hypothetical hypothetically dropped superseded defunct retired
		historically historical proposed proposal someday eventually tbd wip generated gitignored untracked nonexistent
		used_to no_longer instead_of replaced_by replaces will_be to_be_created add_a_new add_new for_example for_instance
		such_as e_g not_exist doesn't_exist don't_exist didn't_exist never_existed not_yet moved_to moved_from moved_into
		has_been had_been have_been to_be_added to_be_written will_live will_become going_away went_away is_gone are_gone
		let's_say if_you_have say_you creating_a create_a created_a new_file new_files pretend like_this
		replacement_for successor_to in_place_of in_favor_of in_favour_of before_this never_had names_like paths_like
		files_like ids_like something_like there_is_no there_are_no there's_no
		add_files add_a_file
		por_ejemplo por_exemplo zum_beispiel z_b entfernt veraltet eliminado obsoleto removido`}
	hedgingHeadings = lexicon{text: `migration migrations migrating history removed removal removals changelog deprecated deprecations
		deprecation example examples sample samples roadmap future ideas planned plans upgrading upgrade legacy obsolete
		breaking proposal proposals alternatives rejected superseded previously tutorial walkthrough archive postmortem
		background motivation before`}
	// hedgesElsewhere are those with letters that are not ASCII's.
	hedgesElsewhere = []string{
		"已删除", "已移除", "删除了", "移除了", "废弃", "弃用", "例如", "比如", "不再", "以前", "曾经", "示例", "旧的", "重命名",
		"削除", "廃止", "例えば", "以前は", "삭제", "예를 들어", "устарел", "удалён", "удален", "например",
		"supprimé", "obsolète", "früher", "gelöscht",
	}
)
