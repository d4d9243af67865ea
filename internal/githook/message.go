// Package githook decides where the session's trailer goes in a commit message.
//
// It is given bytes and answers with bytes. Other packages read and write the message
// and find out what git is doing.
package githook

import (
	"bytes"
	"strings"
)

// sessionKey is the trailer that says which session made a commit.
const sessionKey = "Session"

// A Message is a commit message as a hook of git's meets it: prepared for somebody to
// write ([Message.Sign]), or written ([Message.Finish]).
type Message struct {
	Text    []byte
	Source  string // where git has it from: "", message, template, merge, squash or commit
	Editor  bool   // somebody will edit it, or has
	Replay  bool   // git is replaying commits: a rebase, a cherry-pick
	Comment string // what begins a comment; "" is #
}

// Sign returns the message with a session's trailer, placed as git would place it.
//
// A message that has one keeps it. So does one that is somebody's already: that of a
// commit which is amended, reused or replayed stays as it is, with a trailer or
// without. An empty message stays empty, since git takes that for a change of mind. For
// the same reason one that is yet to be written, which with a trailer in it would be
// empty no longer, gets a note instead, among git's own comments; [Message.Finish]
// turns it into the trailer.
func (m Message) Sign(session string) []byte {
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

// A note is the line that stands for the trailer until the message is written. It
// holds the digest of the text that was there from the beginning, if any: git takes a
// template that nobody edited for a change of mind too.
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

// findNote returns where a session's note is, and its line. Only the line that Sign
// would have written counts: whatever else looks like one is somebody's text.
func (l layout) findNote(session string) (at int, line string, n note, ok bool) {
	for text := range bytes.Lines(l.text) {
		if n, ok := parseNote(string(text), l.comment); ok && n.session == session {
			return at, string(text), n, true
		}
		at += len(text)
	}
	return 0, "", note{}, false
}

// parseNote reads a line, in a message in which comments begin with comment.
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

// note puts a note at the head of git's own comments, where it is dropped with them.
func (l layout) note(session string) []byte {
	if _, _, _, ok := l.findNote(session); ok || strings.ContainsAny(l.comment, "\r\n") {
		return l.text // nothing with a line end in it begins a comment
	}
	line := note{l.comment, l.digest(), session}.String()
	at := l.comments()
	text := string(l.text)
	if at > 0 && text[at-1] != '\n' {
		line = "\n" + line
	}
	return []byte(text[:at] + line + text[at:])
}

// Awaits reports whether a message may hold a note of a session, whatever begins its
// comments: whether it is worth finding that out.
func (m Message) Awaits(session string) bool {
	return session != "" && m.Editor && bytes.Contains(m.Text, []byte(noteEnd+session))
}

// Finish turns the note that [Message.Sign] left for a session in a message into the
// trailer. A message without one, because it was taken out or none was needed, stays as
// it is, and so does one that nobody edited, since it was given no note; one that nobody
// has written yet only loses it.
func (m Message) Finish(session string) []byte {
	l := layout{text: m.Text, comment: m.comment(), edited: true}
	if !m.Awaits(session) {
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

// autoComments are what git chooses from where core.commentChar is auto.
const autoComments = "#;@!$%^&|:"

// Comment returns what begins a comment in a message, by what core.commentChar says.
// Where git was to choose, it chose what begins the last line it wrote.
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
