package githook

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"
)

// scissors follow the comment character where everything below is cut off.
const scissors = "------------------------ >8 ------------------------\n"

// A layout is a commit message as git divides it: a text, at whose end there may be a
// block of trailers, then comments, then what is cut off.
//
// It goes by git's own rules (git-interpret-trailers), rather than by a call of git: that
// would start whatever programs the user's configuration has for other trailers, and
// takes a message that begins with # for a comment even where git will keep it.
type layout struct {
	text    []byte
	comment string
	edited  bool // comments will be dropped: an editor is involved
}

// cut is where what is cut off begins.
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

// end is where the text ends, and with it the block of trailers: before the blank
// lines and comments at its foot, and before a list of conflicts as git once wrote it.
func (l layout) end() int {
	offset, run := 0, -1
	begun := l.edited // or the first line is the message, whatever it begins with
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

// comments is where git's own comments begin, or would: at the foot of the text, or
// below where it is cut off.
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

// written lists the lines that hold anything.
func (l layout) written() [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(l.text[:l.end()]) {
		if !isBlank(line) && (!l.edited || !l.isComment(line)) {
			lines = append(lines, bytes.TrimSpace(line))
		}
	}
	return lines
}

// empty reports whether nothing has been written.
func (l layout) empty() bool { return len(l.written()) == 0 }

// digest tells one text from another; it is "" when nothing has been written.
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

// block returns the lines of the block of trailers, none when there is no such block:
// the last paragraph, unless it is the first, in which every line is a trailer or one
// is git's own and the others are not too many.
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

// has reports whether there is a trailer of that key, in any case.
func (l layout) has(name string) bool {
	for _, line := range l.block() {
		if !l.isComment(line) && strings.EqualFold(key(line), name) {
			return true
		}
	}
	return false
}

// add adds a trailer, in a paragraph of its own if there is no block yet.
func (l layout) add(trailer string) []byte {
	end := 0 // of the last line that holds anything
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

// key returns the key of a line that has the form of a trailer, else "".
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

// isBlank reports whether a line holds nothing but white space.
func isBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
