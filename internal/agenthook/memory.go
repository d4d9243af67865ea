package agenthook

import (
	"bytes"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// A Memory has the contents that a session saw and the texts that it was told. It is stored as lines, and hooks only add
// lines, so that two hooks at the same time lose nothing. Malformed lines are ignored.
type Memory struct {
	seen map[repo.Path]repo.ID
	told map[string]string
}

// MaxMemory is the limit for the bytes of a session's lines. A session that exceeds it
// starts with an empty memory.
const MaxMemory = 1 << 20

// The first words of lines.
const (
	seenWord = "seen"
	toldWord = "told"
)

// ParseMemory decodes the lines of a session.
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

// Seen returns the content of a file that the session saw last. ok is false if it saw
// none.
func (m *Memory) Seen(p repo.Path) (id repo.ID, ok bool) {
	id, ok = m.seen[p]
	return id, ok
}

// WasTold reports whether what is the word of the last text about a subject that the session was told.
func (m *Memory) WasTold(subject, what string) bool {
	was, ok := m.told[subject]
	return ok && was == what
}

// SeenLine returns the line for a content that the session saw.
func SeenLine(p repo.Path, id repo.ID) string {
	return seenWord + " " + id.String() + " " + strconv.Quote(string(p)) + "\n"
}

// ToldLine returns the line for something that the session was told.
func ToldLine(subject, what string) string {
	return toldWord + " " + what + " " + strconv.Quote(subject) + "\n"
}
