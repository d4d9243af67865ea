package command

import (
	"bytes"
	"context"
	"fmt"
)

// Split runs git and calls f with each NUL-terminated text of its output, while git writes it. The first error
// of f stops git.
func (r Runner) Split(ctx context.Context, c Call, f func(text string) error) error {
	s := &splitter{f: f}
	c.Stdout = s
	err := r.Stream(ctx, c)
	switch {
	case s.err != nil:
		return s.err
	case err != nil:
		return err
	case len(s.rest) > 0:
		return fmt.Errorf("git %s: truncated output", c.Args[0])
	}
	return nil
}

// A splitter calls f with each NUL-terminated text that is written to it.
type splitter struct {
	f    func(text string) error
	rest []byte
	err  error // the first error of f
}

func (s *splitter) Write(b []byte) (int, error) {
	n := len(b)
	for s.err == nil {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			s.rest = append(s.rest, b...)
			break
		}
		s.err = s.f(string(append(s.rest, b[:i]...)))
		s.rest, b = s.rest[:0], b[i+1:]
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, nil
}
