package docs

import (
	"strconv"

	"ken/internal/repo"
)

// Describe returns the verdict on a mention as text, with at most this many characters of the commit's subject.
func (m *CheckedMention) Describe(subject int) string {
	return m.describe(subject, func(name string) string { return name }, strconv.Quote)
}

// Quoted returns Describe for agents, with the texts of the repository in quotes.
func (m *CheckedMention) Quoted(subject int) string {
	return m.describe(subject, repo.QuotedName, repo.Quotation)
}

func (m *CheckedMention) describe(subject int, name, quote func(string) string) string {
	text := m.Verdict.String()
	if m.Verdict == Moved {
		text += " to " + name(m.To.String())
	}
	switch {
	case m.Since != nil:
		text += " since " + m.Since.ID.Short() + " " + quote(repo.Shorten(m.Since.Subject, subject))
	case m.Uncommitted:
		text += ", not committed yet"
	case m.Verdict == Gone || m.Verdict == Moved:
		text += ", commit unknown"
	}
	why := m.Why
	if m.Hidden != "" && m.Hidden != m.Verdict.String() {
		why = m.Hidden
	}
	if why != "" {
		text += " (" + name(why) + ")"
	}
	return text
}
