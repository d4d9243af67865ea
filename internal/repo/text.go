package repo

// TextStats counts the bytes by which git guesses whether a stream is text. The methods answer for the bytes added so far.
type TextStats struct {
	nul, loneCR, crlf       int64
	printable, nonprintable int64
	cr                      bool // the last byte was a CR, and the next one is not known yet
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

// CRLF returns the number of CRs directly before an LF.
func (s *TextStats) CRLF() int64 { return s.crlf }

// CertainlyBinary reports whether the stream is binary, whatever follows.
func (s *TextStats) CertainlyBinary() bool { return s.nul > 0 || s.loneCR > 0 }

// Binary reports whether git would take the stream for binary if it ended here. Then git does not convert line ends.
func (s *TextStats) Binary() bool {
	odd := s.nonprintable
	if s.last == 0x1a {
		odd-- // the end-of-file mark of DOS, not a sign of binary
	}
	return s.CertainlyBinary() || s.cr || s.printable>>7 < odd
}
