package git

import (
	"bytes"
	"context"
	"fmt"
)

// split runs git and calls f with each of its answers that end in a NUL, as they come. The
// first error of f's ends it.
func (r *Repo) split(ctx context.Context, c call, f func(text string) error) error {
	s := &splitter{f: f}
	c.stdout = s
	status, stderr, err := r.run(ctx, c)
	switch {
	case s.err != nil:
		return s.err
	case err != nil:
		return err
	case status != 0:
		return r.failed(c.args, status, stderr)
	case len(s.rest) > 0:
		return fmt.Errorf("git %s: truncated output", c.args[0])
	}
	return nil
}

// A splitter calls f with each text that ends in a NUL, as it comes.
type splitter struct {
	f    func(text string) error
	rest []byte
	err  error // the first
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
