package docs

import (
	"fmt"

	"ken/internal/repo"
)

// Describe returns the verdict on a mention as text, with at most this many characters of the commit's subject.
func (m *CheckedMention) Describe(subject int) string {
	text := m.Verdict.String()
	if m.Verdict == Moved {
		text += " to " + m.To.String()
	}
	switch {
	case m.Since != nil:
		text += fmt.Sprintf(" since %s %q", m.Since.ID.Short(), repo.Shorten(m.Since.Subject, subject))
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
		text += " (" + why + ")"
	}
	return text
}
