package repo

// TextStats counts in a stream what git's guess at text looks at. It can be asked
// at any time.
type TextStats struct {
	nul, loneCR, crlf       int64
	printable, nonprintable int64
	cr                      bool // the last byte was a CR whose next is not known
	last                    byte
}

// Add counts the next bytes.
func (s *TextStats) Add(b []byte) {
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
		case c == 0x7f:
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

// CRLF is how many CRs stood directly before an LF.
func (s *TextStats) CRLF() int64 { return s.crlf }

// CertainlyBinary reports whether the stream is binary, whatever follows.
func (s *TextStats) CertainlyBinary() bool { return s.nul > 0 || s.loneCR > 0 }

// Binary is git's guess, under which it leaves line endings alone, should the
// stream end here.
func (s *TextStats) Binary() bool {
	odd := s.nonprintable
	if s.last == 0x1a {
		odd-- // the end-of-file mark of DOS, not a sign of binary
	}
	return s.CertainlyBinary() || s.cr || s.printable>>7 < odd
}
