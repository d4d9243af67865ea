package hook

import (
	"bytes"
	"strings"
)

// sessionKey is the trailer that says which session made a commit.
const sessionKey = "Session"

// A Message is a commit message that git has prepared, as prepare-commit-msg meets it.
type Message struct {
	Text    []byte
	Source  string // where git has it from: "", message, template, merge, squash or commit
	Editor  bool   // somebody will edit it
	Replay  bool   // git is replaying commits: a rebase, a cherry-pick
	Comment string // what begins a comment; "" is #
}

// Sign returns the message with a session's trailer, placed as git would place it.
//
// A message that has one keeps it. So does one that is somebody's already: that of a
// commit which is amended, reused or replayed stays as it is, with a trailer or
// without. An empty message stays empty, since git takes that for a change of mind. For
// the same reason one that is yet to be written, which with a trailer in it would be
// empty no longer, gets a note instead, among git's own comments; [Finish] turns it
// into the trailer.
func (m Message) Sign(session string) []byte {
	if session == "" || m.Source == "commit" || m.Replay {
		return m.Text
	}
	comment := m.Comment
	if comment == "" {
		comment = "#"
	}
	l := layout{text: m.Text, comment: comment, edited: m.Editor}
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

// A note is the line that stands for the trailer until the message is written. It
// holds the comment character, and the digest of the text that was there from the
// beginning, if any: git takes a template that nobody edited for a change of mind too.
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

// parseNote reads a line.
func parseNote(line string) (n note, ok bool) {
	comment, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), noteStart)
	if !ok || comment == "" || strings.ContainsAny(comment, " \t") {
		return note{}, false
	}
	given, session, ok := strings.Cut(rest, noteEnd)
	if given != "" && !strings.HasPrefix(given, noteUnless) {
		return note{}, false
	}
	return note{comment, strings.TrimPrefix(given, noteUnless), strings.TrimSpace(session)}, ok
}

// findNote returns where a note is, and its line.
func findNote(text []byte) (at int, line string, n note, ok bool) {
	for l := range bytes.Lines(text) {
		if n, ok := parseNote(string(l)); ok {
			return at, string(l), n, true
		}
		at += len(l)
	}
	return 0, "", note{}, false
}

// note puts a note at the head of git's own comments, where it is dropped with them.
func (l layout) note(session string) []byte {
	if _, _, _, ok := findNote(l.text); ok || strings.ContainsAny(l.comment, " \t\r\n") {
		return l.text // of a comment character with a space in it, Finish could not tell where it ends
	}
	line := note{l.comment, l.digest(), session}.String()
	at := l.comments()
	text := string(l.text)
	if at > 0 && text[at-1] != '\n' {
		line = "\n" + line
	}
	return []byte(text[:at] + line + text[at:])
}

// Finish turns the note that [Message.Sign] left in a message into the trailer. A
// message without one, because it was taken out or none was needed, stays as it is;
// one that nobody has written yet only loses it.
func Finish(text []byte) []byte {
	at, line, n, ok := findNote(text)
	if !ok {
		return text
	}
	l := layout{text: []byte(string(text[:at]) + string(text[at+len(line):])), comment: n.comment, edited: true}
	if n.session == "" || l.digest() == n.given || l.has(sessionKey) {
		return l.text
	}
	return l.add(sessionKey + ": " + n.session)
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
