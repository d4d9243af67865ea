package githook

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// scissors follows the comment prefix on the line below which git ignores everything.
const scissors = "------------------------ >8 ------------------------\n"

// A layout is a commit message as git divides it: a text that may end with a block of
// trailers, then comments, then the part below the scissors.
//
// It follows the rules of git interpret-trailers without running it: git would start the
// programs that the user configured for other trailers, and would take a message that
// starts with # for a comment even if git commit keeps it.
type layout struct {
	text    []byte
	comment string
	edited  bool // the user edits the message, so git removes comments
}

// cut returns the offset of the scissors line, or the end.
func (l layout) cut() int {
	line := []byte(l.comment + " " + scissors)
	if bytes.HasPrefix(l.text, line) {
		return 0
	}
	if i := bytes.Index(l.text, append([]byte("\n"), line...)); i >= 0 {
		return i + 1
	}
	return len(l.text)
}

// end returns the end of the text and its trailers: before the blank lines and comments that
// follow, and before a list of conflicts as older gits wrote it.
func (l layout) end() int {
	offset, run := 0, -1
	begun := l.edited // otherwise the first line is text, even with the prefix of comments
	conflicts := false
	for line := range bytes.Lines(l.text[:l.cut()]) {
		blank := line[0] == '\n'
		switch {
		case blank || begun && l.isComment(line):
			if run < 0 {
				run = offset
			}
		case string(line) == "Conflicts:\n":
			conflicts = true
			if run < 0 {
				run = offset
			}
		case conflicts && line[0] == '\t':
		default:
			run, conflicts = -1, false
		}
		begun = begun || !blank
		offset += len(line)
	}
	if run < 0 {
		return offset
	}
	return run
}

// comments returns the offset of git's own comments: after the text, or below the
// scissors.
func (l layout) comments() int {
	at, cut := l.end(), l.cut()
	for line := range bytes.Lines(l.text[at:cut]) {
		if l.isComment(line) {
			return at
		}
		at += len(line)
	}
	for line := range bytes.Lines(l.text[cut:]) {
		if !l.isComment(line) {
			return at
		}
		at += len(line)
	}
	return at
}

func (l layout) isComment(line []byte) bool { return bytes.HasPrefix(line, []byte(l.comment)) }

// written lists the lines that are neither blank nor comments.
func (l layout) written() [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(l.text[:l.end()]) {
		if !isBlank(line) && (!l.edited || !l.isComment(line)) {
			lines = append(lines, bytes.TrimSpace(line))
		}
	}
	return lines
}

// empty reports whether the message has no text.
func (l layout) empty() bool { return len(l.written()) == 0 }

// digest returns a hash of the text; "" if there is none.
func (l layout) digest() string {
	lines := l.written()
	if len(lines) == 0 {
		return ""
	}
	h := fnv.New32a()
	for _, line := range lines {
		_, _ = h.Write(line) // never fails
		_, _ = h.Write([]byte{'\n'})
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// block returns the lines of the block of trailers, nil if there is none. It is the last
// paragraph, unless that is the first, if every line is a trailer, or if one is a trailer of
// git's own and at least a quarter of the lines are trailers.
func (l layout) block() [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(l.text[:l.end()]) {
		lines = append(lines, line)
	}
	title := 0
	for title < len(lines) && (l.isComment(lines[title]) || !isBlank(lines[title])) {
		title++
	}
	n := len(lines)
	for n > 0 && isBlank(lines[n-1]) {
		n--
	}
	trailers, others, continued, gits := 0, 0, 0, false
	for i := n - 1; i >= title; i-- {
		line := lines[i]
		switch {
		case l.isComment(line):
			others, continued = others+continued, 0
		case isBlank(line):
			others += continued
			if trailers > 0 && others == 0 || gits && trailers*3 >= others {
				return lines[i+1 : n]
			}
			return nil
		case bytes.HasPrefix(line, []byte("Signed-off-by: ")), bytes.HasPrefix(line, []byte("(cherry picked from commit ")):
			trailers, continued, gits = trailers+1, 0, true
		case isSpace(line[0]):
			continued++
		case key(line) != "":
			trailers, continued = trailers+1, 0
		default:
			others, continued = others+1+continued, 0
		}
	}
	return nil
}

// has reports whether the message has a trailer with a key, ignoring case.
func (l layout) has(name string) bool {
	isNamed := func(line []byte) bool { return !l.isComment(line) && strings.EqualFold(key(line), name) }
	return slices.ContainsFunc(l.block(), isNamed)
}

// add adds a trailer, in a new paragraph if there is no block.
func (l layout) add(trailer string) []byte {
	end := 0 // of the last line that is not blank
	offset := 0
	for line := range bytes.Lines(l.text[:l.end()]) {
		if offset += len(line); !isBlank(line) {
			end = offset
		}
	}
	text := string(l.text[:end])
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if l.block() == nil {
		text += "\n"
	}
	return []byte(text + trailer + "\n" + string(l.text[end:]))
}

// key returns the key of a trailer line; "" for any other line.
func key(line []byte) string {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return ""
	}
	name := strings.TrimRight(string(line[:colon]), " \t")
	for i := range len(name) {
		if c := name[i]; c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return name
}

// isBlank reports whether a line is white space.
func isBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
