package content

import "bytes"

// Git converts CRLF to LF before it stores a text file. This file implements the rules of git's convert.c on
// a stream. Package repo decides whether a file is text.

// A crlfFinder detects a CR directly before an LF in a stream.
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

// A crStripper removes every CR directly before an LF.
type crStripper struct {
	pending bool // a CR at the end of the previous piece is pending
}

var (
	crByte    = []byte{'\r'}
	crlfBytes = []byte{'\r', '\n'}
)

// add writes b without the removed CRs. It modifies b.
func (s *crStripper) add(b []byte, write func([]byte)) {
	if len(b) == 0 {
		return
	}
	if s.pending && b[0] != '\n' {
		write(crByte)
	}
	s.pending = b[len(b)-1] == '\r'
	if s.pending {
		b = b[:len(b)-1]
	}
	n := bytes.IndexByte(b, '\r')
	if n < 0 {
		write(b)
		return
	}
	for rest := b[n:]; len(rest) > 0; {
		// rest begins with a CR. If rest has no other byte, that CR is pending and stays.
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
	if s.pending {
		write(crByte)
		s.pending = false
	}
}
