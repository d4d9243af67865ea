package install

import (
	"bytes"
	"errors"

	"ken/internal/fault"
)

// In scripts and TOML files, ken's block is the lines from one mark to the other.
const (
	markStart = "# >>> ken >>>"
	markEnd   = "# <<< ken <<<"
)

// A markedBlock is ken's block in a text, with the text before and after it.
type markedBlock struct {
	before, block, after []byte
	ended                bool // a line end follows the block, and is part of neither block nor after
}

// findMarkedBlock finds ken's block in a text; nil if there is none. Marks that do not
// match are an error, since ken cannot tell which lines are its own.
func findMarkedBlock(text []byte) (*markedBlock, error) {
	start, end := -1, -1
	starts, ends, offset := 0, 0, 0
	for line := range bytes.Lines(text) {
		switch string(bytes.TrimRight(line, "\r\n")) {
		case markStart:
			start = offset
			starts++
		case markEnd:
			end = offset + len(markEnd)
			ends++
		}
		offset += len(line)
	}
	if starts == 0 && ends == 0 {
		return nil, nil
	}
	if starts != 1 || ends != 1 || end < start {
		return nil, &fault.Error{
			Hint: "remove ken's lines by hand, from " + markStart + " to " + markEnd,
			Err:  errors.New("the marks around ken's lines do not match"),
		}
	}
	b := &markedBlock{before: text[:start], block: text[start:end], after: text[end:]}
	for _, eol := range []string{"\n", "\r\n"} {
		if rest, ok := bytes.CutPrefix(b.after, []byte(eol)); ok {
			b.after, b.ended = rest, true
			break
		}
	}
	return b, nil
}
