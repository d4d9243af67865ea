package agenthook

import (
	"bytes"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// A Memory is what a session saw and was told. It is kept as lines that are only ever
// added, so that hooks that run at the same time do not lose each other's; a line that
// cannot be read is none.
type Memory struct {
	seen map[repo.Path]repo.ID
	told map[string]string
}

// MaxMemory is how many bytes of lines are kept of a session. Beyond it the session
// begins anew: what it saw before is then not known.
const MaxMemory = 1 << 20

// The lines.
const (
	seenWord = "seen"
	toldWord = "told"
)

// ParseMemory reads the lines of a session.
func ParseMemory(lines []byte) *Memory {
	m := &Memory{seen: make(map[repo.Path]repo.ID), told: make(map[string]string)}
	for line := range bytes.Lines(lines) {
		word, rest, _ := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
		value, quoted, _ := strings.Cut(rest, " ")
		key, err := strconv.Unquote(quoted)
		if err != nil {
			continue
		}
		switch word {
		case seenWord:
			if id, err := repo.ParseID(value); err == nil && !id.IsZero() {
				m.seen[repo.Path(key)] = id
			}
		case toldWord:
			m.told[key] = value
		}
	}
	return m
}

// Seen returns the content of a file that the session saw last, ok false when nothing is
// known of that.
func (m *Memory) Seen(p repo.Path) (id repo.ID, ok bool) {
	id, ok = m.seen[p]
	return id, ok
}

// Told reports whether the session was told something about a subject last: what, in one
// word.
func (m *Memory) Told(subject, what string) bool {
	was, ok := m.told[subject]
	return ok && was == what
}

// SeenLine is the line for a content that the session saw.
func SeenLine(p repo.Path, id repo.ID) string {
	return seenWord + " " + id.String() + " " + strconv.Quote(string(p)) + "\n"
}

// ToldLine is the line for something that the session was told.
func ToldLine(subject, what string) string {
	return toldWord + " " + what + " " + strconv.Quote(subject) + "\n"
}
