// Package githook decides where the session's trailer goes in a commit message.
//
// It is given bytes and answers with bytes. Other packages read and write the message
// and find out what git is doing.
package githook

import (
	"bytes"
	"strings"
)

// sessionKey is the key of the trailer with the session of a commit.
const sessionKey = "Session"

// A Message is a commit message in a git hook: before the user edits it ([Message.AddSession]), or
// after ([Message.Finish]).
type Message struct {
	Text    []byte
	Source  string // as git names it: "", message, template, merge, squash or commit
	Editor  bool   // the user will edit it, or has
	Replay  bool   // git is replaying commits: a rebase, a cherry-pick
	Comment string // the prefix of comments; "" is #
}

// AddSession returns the message with a session's trailer, placed as git would place it.
//
// A message with a trailer stays as it is, and so does the message of a commit that is
// amended, reused or replayed. An empty message stays empty, so that git aborts the commit.
// A message that the user has yet to write would not be empty with a trailer: it gets a
// note in a comment, which [Message.Finish] turns into the trailer.
func (m Message) AddSession(session string) []byte {
	if session == "" || m.Source == "commit" || m.Replay {
		return m.Text
	}
	l := layout{text: m.Text, comment: m.comment(), edited: m.Editor}
	switch {
	case l.has(sessionKey):
		return m.Text
	case m.Editor && (m.Source == "" || m.Source == "template"):
		return l.note(session)
	case l.empty():
		return m.Text
	}
	return l.add(sessionKey + ": " + session)
}

func (m Message) comment() string {
	if m.Comment == "" {
		return "#"
	}
	return m.Comment
}

// A note is a comment that announces the trailer. It holds the digest of the template, if there
// is one, since git also aborts a commit whose template was not edited.
type note struct{ comment, given, session string }

const (
	noteStart  = " ken will add"
	noteUnless = " unless this is still "
	noteEnd    = ": " + sessionKey + ": "
)

func (n note) String() string {
	if n.given != "" {
		n.given = noteUnless + n.given
	}
	return n.comment + noteStart + n.given + noteEnd + n.session + "\n"
}

// findNote returns the offset and the line of a session's note. Only a line that AddSession writes
// counts; any other is text of the user.
func (l layout) findNote(session string) (at int, line string, n note, ok bool) {
	for text := range bytes.Lines(l.text) {
		if n, ok := parseNote(string(text), l.comment); ok && n.session == session {
			return at, string(text), n, true
		}
		at += len(text)
	}
	return 0, "", note{}, false
}

// parseNote parses a line of a message with this prefix of comments.
func parseNote(line, comment string) (n note, ok bool) {
	rest, ok := strings.CutPrefix(line, comment+noteStart)
	if !ok {
		return note{}, false
	}
	given, session, ok := strings.Cut(rest, noteEnd)
	if given != "" && !strings.HasPrefix(given, noteUnless) {
		return note{}, false
	}
	return note{comment, strings.TrimPrefix(given, noteUnless), strings.TrimSpace(session)}, ok
}

// note adds a note before git's own comments, which git removes with it.
func (l layout) note(session string) []byte {
	if _, _, _, ok := l.findNote(session); ok || strings.ContainsAny(l.comment, "\r\n") {
		return l.text // a prefix with a line end cannot start a comment
	}
	line := note{l.comment, l.digest(), session}.String()
	at := l.comments()
	text := string(l.text)
	if at > 0 && text[at-1] != '\n' {
		line = "\n" + line
	}
	return []byte(text[:at] + line + text[at:])
}

// MayHaveNote reports whether a message may contain the note of a session, with any prefix of
// comments. If not, the prefix need not be read.
func (m Message) MayHaveNote(session string) bool {
	return session != "" && m.Editor && bytes.Contains(m.Text, []byte(noteEnd+session))
}

// Finish turns the note of [Message.AddSession] into the trailer. A message without a note stays
// as it is. A message that the user left empty, or an unchanged template, loses the note and
// gets no trailer.
func (m Message) Finish(session string) []byte {
	l := layout{text: m.Text, comment: m.comment(), edited: true}
	if !m.MayHaveNote(session) {
		return m.Text
	}
	at, line, n, ok := l.findNote(session)
	if !ok {
		return m.Text
	}
	l.text = []byte(string(m.Text[:at]) + string(m.Text[at+len(line):]))
	if l.digest() == n.given || l.has(sessionKey) {
		return l.text
	}
	return l.add(sessionKey + ": " + session)
}

// autoComments has the prefixes that git chooses from if core.commentChar is auto.
const autoComments = "#;@!$%^&|:"

// Comment returns the prefix of comments in a message, given core.commentChar. If that is
// auto, the last line, which git wrote, starts with the prefix that git chose.
func Comment(setting string, text []byte) string {
	switch {
	case setting == "":
		return "#"
	case setting != "auto":
		return setting
	}
	if at := bytes.Index(text, []byte(" "+scissors)); at > 0 && strings.IndexByte(autoComments, text[at-1]) >= 0 {
		return string(text[at-1 : at])
	}
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	if last := lines[len(lines)-1]; len(last) > 0 && strings.IndexByte(autoComments, last[0]) >= 0 {
		return string(last[:1])
	}
	return "#"
}
