package brief

import (
	"strings"

	"ken/internal/repo"
)

// Quoted returns the brief for agents that did not ask for it, in at most limit bytes. Texts of the repository are
// quotations, so that an agent can distinguish them from statements of ken. It is "" if there is no room for a section;
// left counts the omitted lines.
func (b *Brief) Quoted(limit int) (text string, left int) {
	var out strings.Builder
	room := limit - len(repo.QuotationNote) - 1
	add := func(s string) bool {
		if len(s) > room {
			return false
		}
		room -= len(s)
		out.WriteString(s)
		return true
	}
	for _, s := range b.Sections {
		if len(s.Items) == 0 {
			if !add(s.quoted(room)) {
				left++
			}
			continue
		}
		told := 0
		for _, it := range s.Items {
			line := "  " + repo.Quotation(it.show) + "\n"
			switch {
			case told > 0:
			case len(s.Items) == 1:
				line = s.head() + ": " + line[len("  "):]
			default:
				line = s.head() + ":\n" + line
			}
			if !add(line) {
				break
			}
			told++
		}
		left += len(s.Items) - told
		if told > 0 {
			add(moreLine(s.More + len(s.Items) - told))
		}
	}
	for _, n := range b.notes() {
		if !add(n) {
			left++
		}
	}
	if out.Len() == 0 {
		return "", left
	}
	return repo.QuotationNote + "\n" + out.String(), left
}

// head returns the subject of a section after its verdict.
func (s Section) head() string {
	if v := s.shownVerdict(); v != "" {
		return "[" + v + "] " + s.Subject
	}
	return s.Subject
}

// isPlainSubject reports whether a subject is a path, or a spec, whose name is one ordinary word.
func isPlainSubject(subject string) bool {
	name := strings.TrimPrefix(subject, "spec ")
	return repo.QuotedName(name) == name
}

// quoted returns a section without items as a line of at most room bytes. If less than
// minCutBytes of its text would fit, the line is longer than that.
func (s Section) quoted(room int) string {
	if !s.ByKen && !isPlainSubject(s.Subject) {
		s.Subject = repo.Quotation(s.Subject)
	}
	head := s.head() + ": "
	if s.ByKen {
		return head + strings.Join(strings.Fields(s.Text), " ") + "\n"
	}
	quote := repo.Quotation(s.Text)
	over := len(head) + len(quote) + 1 - room
	if inner := len(quote) - len(`""`) - over; over > 0 && inner >= minCutBytes {
		quote = `"` + cut(quote[1:len(quote)-1], inner) + `"`
	}
	return head + quote + "\n"
}
