package git

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/repo"
)

// HasCRLF reports whether a blob is text with CRLF in it, by the rules with
// which git decides to leave such line endings alone. A blob that is not here
// is an error.
func (r *Repo) HasCRLF(ctx context.Context, blob repo.ID) (bool, error) {
	if blob.IsZero() {
		return false, nil
	}
	var s textStats
	status, stderr, err := r.run(ctx, call{args: []string{"cat-file", "blob", blob.String()}, stdout: &s})
	if s.binary {
		return false, nil // certain, though git may complain that nobody reads on
	}
	if err == nil && status != 0 {
		err = r.failed([]string{"cat-file"}, status, stderr)
	}
	if err != nil {
		return false, fmt.Errorf("read blob %s: %w", blob.Short(), err)
	}
	return s.hasCRLF(), nil
}

// errBinary stops the reading of a blob that turned out not to be text.
var errBinary = errors.New("not text")

// textStats counts what git's gather_stats counts, over a stream.
type textStats struct {
	crlf, printable, nonprintable int
	afterCR, binary               bool
	last                          byte
}

// Write takes the next bytes. It fails as soon as nothing can make them text.
func (s *textStats) Write(p []byte) (int, error) {
	for i, c := range p {
		if s.afterCR {
			s.afterCR = false
			if c == '\n' {
				s.crlf++
				s.last = c
				continue
			}
			s.binary = true // a CR on its own
		}
		if c == 0 {
			s.binary = true
		}
		if s.binary {
			return i, errBinary
		}
		s.count(c)
	}
	return len(p), nil
}

func (s *textStats) count(c byte) {
	s.last = c
	switch {
	case c == '\r':
		s.afterCR = true
	case c == '\n':
	case c == '\b', c == '\t', c == 0x1b, c == '\f':
		s.printable++
	case c < ' ', c == 0x7f:
		s.nonprintable++
	default:
		s.printable++
	}
}

// hasCRLF gives the verdict once everything was written.
func (s *textStats) hasCRLF() bool {
	n := s.nonprintable
	if s.last == 0x1a { // a closing ^Z counts for nothing
		n--
	}
	return !s.binary && !s.afterCR && s.printable>>7 >= n && s.crlf > 0
}
