package provider

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine limits a line of an event stream. The arguments of a tool call may be in one line.
const maxLine = 4 << 20

var errLine = errors.New("a line of the stream is too long")

// events reads server-sent events: lines of "field: value", with an empty line after each event. Lines end in CR,
// LF or both. As the standard requires, it drops comments, unused fields and an unfinished event at the end.
type events struct {
	r      *bufio.Reader
	begun  bool
	skipLF bool // the last line ended in CR; an LF that follows belongs to it
	line   []byte
	data   []byte
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 16<<10)} }

// next returns the next event that has data. The data is valid until the next call. At the end of the stream, next
// returns io.EOF.
func (e *events) next() (name string, data []byte, err error) {
	e.data = e.data[:0]
	some := false
	for {
		line, err := e.readLine()
		if err != nil {
			return "", nil, err
		}
		if len(line) == 0 {
			if some {
				return name, e.data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) { // "" for a comment
		case "event":
			name = string(value)
		case "data":
			if some {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > maxLine {
				return "", nil, errLine
			}
			e.data, some = append(e.data, value...), true
		}
	}
}

// readLine returns the next line without its end. It does not wait for more data: after a CR, an LF may arrive
// later.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			return nil, err
		}
		here, _ := e.r.Peek(e.r.Buffered())
		if e.skipLF && here[0] == '\n' {
			e.skipLF = false
			_, _ = e.r.Discard(1)
			continue
		}
		e.skipLF = false
		end := bytes.IndexAny(here, "\r\n")
		if n := end; n < 0 {
			n = len(here)
			e.line = append(e.line, here...)
			_, _ = e.r.Discard(n)
		} else {
			e.line = append(e.line, here[:n]...)
			e.skipLF = here[n] == '\r'
			_, _ = e.r.Discard(n + 1)
		}
		if len(e.line) > maxLine {
			return nil, errLine
		}
		if end >= 0 {
			line := e.line
			if !e.begun {
				e.begun, line = true, bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			return line, nil
		}
	}
}
