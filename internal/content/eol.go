package content

import "bytes"

// Git turns CRLF into LF before it stores a text file. These are the rules of
// its convert.c, on a stream: what a text is, and which CRs go.

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

// textStats counts what git's guess looks at. Feed it with add and close it
// with end.
type textStats struct {
	nul, loneCR, crlf       int64
	printable, nonprintable int64
	cr                      bool // the last byte was a CR whose next is not known
	last                    byte
}

func (s *textStats) add(b []byte) {
	for _, c := range b {
		if s.cr {
			s.cr = false
			if c == '\n' {
				s.crlf++
				continue
			}
			s.loneCR++
		}
		switch {
		case c == '\r':
			s.cr = true
		case c == '\n':
		case c == 127:
			s.nonprintable++
		case c >= ' ', c == '\b', c == '\t', c == '\033', c == '\f':
			s.printable++
		default:
			if c == 0 {
				s.nul++
			}
			s.nonprintable++
		}
	}
	if len(b) > 0 {
		s.last = b[len(b)-1]
	}
}

func (s *textStats) end() {
	if s.cr {
		s.loneCR++
		s.cr = false
	}
	if s.last == 0x1a {
		s.nonprintable-- // the end-of-file mark of DOS, not a sign of binary
	}
}

// binary is git's guess, under which text=auto leaves a file alone.
func (s *textStats) binary() bool {
	return s.loneCR > 0 || s.nul > 0 || s.printable>>7 < s.nonprintable
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
