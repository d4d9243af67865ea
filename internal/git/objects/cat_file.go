package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ken/internal/git/command"
)

// An object is an object that git has under a name. Its kind is "" if there is none.
type object struct {
	kind    string
	content []byte // of a tree; valid until the next object
	size    int    // size of an id in bytes
}

// A Prepared is a git cat-file process that waits for the names of objects. It is used once.
type Prepared struct {
	names  *io.PipeWriter
	parser *catFileParser
	done   chan error
}

// Prepare starts a git process that waits for names.
func (r Reader) Prepare(ctx context.Context) *Prepared {
	in, names := io.Pipe()
	q := &Prepared{names, &catFileParser{size: r.Format.Size()}, make(chan error, 1)}
	args := []string{"cat-file", "--buffer", "--batch=%(objectname) %(objecttype) %(objectsize)"}
	go func() {
		err := r.Git.Stream(ctx, command.Call{Args: args, Stdin: in, Stdout: q.parser, IdleTimeoutOnly: true})
		_ = in.Close() // so that writers of names do not block
		q.done <- err
	}()
	return q
}

// Close ends the process if it was not used.
func (p *Prepared) Close() { _ = p.names.Close() } // closing a pipe of this process cannot fail

// objects reads the objects of some names and calls f with each of them. A name must not contain a newline.
func (p *Prepared) objects(names []string, f func(name string, o object) error) error {
	p.parser.names, p.parser.f = names, f
	_, _ = io.WriteString(p.names, strings.Join(names, "\n")+"\n") // done has the error
	p.Close()
	err := <-p.done
	switch {
	case p.parser.err != nil:
		return p.parser.err
	case err != nil:
		return err
	case len(p.parser.names) > 0 || p.parser.skip > 0:
		return errors.New("git cat-file: truncated output")
	}
	return nil
}

// A catFileParser parses the output while git writes it, so that only one object is in memory at a time.
type catFileParser struct {
	names []string // without an answer yet
	f     func(name string, o object) error
	size  int
	text  []byte // not parsed yet
	skip  int    // bytes to skip
	err   error
}

func (l *catFileParser) Write(b []byte) (int, error) {
	n := len(b)
	skipped := min(l.skip, len(b))
	l.skip -= skipped
	if b = b[skipped:]; l.err == nil && len(b) > 0 {
		l.text = append(l.text, b...)
		l.err = l.parse()
	}
	if l.err != nil {
		return 0, l.err
	}
	return n, nil
}

// parse parses the complete objects in the text.
func (l *catFileParser) parse() error {
	rest := l.text
	for len(l.names) > 0 {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			break
		}
		o, size, err := l.head(string(line))
		if err != nil {
			return err
		}
		switch {
		case size >= 0 && o.kind != "tree": // a file where a directory was expected; it may be large
			skipped := min(size+1, len(after))
			l.skip, after = size+1-skipped, after[skipped:]
		case size >= 0:
			if len(after) <= size {
				l.keep(rest)
				return nil
			}
			if after[size] != '\n' {
				return fmt.Errorf("git cat-file: cannot read %q", line)
			}
			o.content, after = after[:size], after[size+1:]
		}
		if err := l.f(l.names[0], o); err != nil {
			return err
		}
		l.names, rest = l.names[1:], after
	}
	l.keep(rest)
	return nil
}

// keep keeps the incomplete end of the text.
func (l *catFileParser) keep(rest []byte) {
	if len(rest) < len(l.text) { // a long object comes in many parts
		l.text = append(l.text[:0], rest...)
	}
}

// head parses the first line of an answer. It returns the size of the content, -1 if there is none.
func (l *catFileParser) head(line string) (o object, size int, err error) {
	o.size = l.size
	word := strings.Fields(line)
	switch {
	case line == l.names[0]+" missing":
		return o, -1, nil
	case len(word) == 2 && word[1] == "submodule": // newer versions of git
		o.kind = "commit"
		return o, -1, nil
	case len(word) == 3:
		if size, err = strconv.Atoi(word[2]); err == nil && size >= 0 {
			o.kind = word[1]
			return o, size, nil
		}
	}
	return o, 0, fmt.Errorf("git cat-file: cannot read %q", line)
}
