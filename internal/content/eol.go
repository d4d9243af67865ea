package content

import "bytes"

// Git turns CRLF into LF before it stores a text file. These are the rules of
// its convert.c, on a stream, for which CRs go; what a text is, is repo's.

// A crlfFinder finds out whether a stream holds a CR directly before an LF.
type crlfFinder struct {
	found bool
	cr    bool // the last byte was a CR
}

func (f *crlfFinder) add(b []byte) {
	if f.found || len(b) == 0 {
		return
	}
	f.found = f.cr && b[0] == '\n' || bytes.Contains(b, crlfBytes)
	f.cr = b[len(b)-1] == '\r'
}

// A crStripper drops every CR directly before an LF.
type crStripper struct {
	held bool // a CR at the end of the last piece, not yet passed on
}

var (
	crByte    = []byte{'\r'}
	crlfBytes = []byte{'\r', '\n'}
)

// add passes b on without the CRs that go, closing the gaps in b itself.
func (s *crStripper) add(b []byte, write func([]byte)) {
	if len(b) == 0 {
		return
	}
	if s.held && b[0] != '\n' {
		write(crByte)
	}
	s.held = b[len(b)-1] == '\r'
	if s.held {
		b = b[:len(b)-1]
	}
	n := bytes.IndexByte(b, '\r')
	if n < 0 {
		write(b)
		return
	}
	for rest := b[n:]; len(rest) > 0; {
		// rest begins with a CR. Where it is alone, the next byte is the CR
		// held above, so it stays.
		if len(rest) > 1 && rest[1] == '\n' {
			rest = rest[1:]
		}
		end := bytes.IndexByte(rest[1:], '\r') + 1
		if end == 0 {
			end = len(rest)
		}
		n += copy(b[n:], rest[:end])
		rest = rest[end:]
	}
	write(b[:n])
}

func (s *crStripper) end(write func([]byte)) {
	if s.held {
		write(crByte)
		s.held = false
	}
}
