package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// An object is what git has under a name: of no kind when there is nothing.
type object struct {
	kind    string
	content []byte // of a tree, until the next one comes
	size    int    // of an id
}

// A question is a git that waits to be asked for objects. It is asked once; one that
// is not is ended by closing names.
type question struct {
	names *io.PipeWriter
	hears *listener
	done  chan error
}

// ask starts a git to be asked.
func (r *Repo) ask(ctx context.Context) *question {
	in, names := io.Pipe()
	q := &question{names, &listener{size: r.format.Size()}, make(chan error, 1)}
	args := []string{"cat-file", "--buffer", "--batch=%(objectname) %(objecttype) %(objectsize)"}
	go func() {
		status, stderr, err := r.run(ctx, call{args: args, stdin: in, stdout: q.hears, steady: true})
		if err == nil && status != 0 {
			err = r.failed(args, status, stderr)
		}
		_ = in.Close() // so that nobody waits to be read
		q.done <- err
	}()
	return q
}

// answers asks for the objects of some names, each of which fits in a line, and calls
// f with them, one after the other.
func (q *question) answers(names []string, f func(name string, o object) error) error {
	q.hears.names, q.hears.f = names, f
	_, _ = io.WriteString(q.names, strings.Join(names, "\n")+"\n") // the answer says what went wrong
	_ = q.names.Close()                                            // a pipe of our own
	err := <-q.done
	switch {
	case q.hears.err != nil:
		return q.hears.err
	case err != nil:
		return err
	case len(q.hears.names) > 0 || q.hears.skip > 0:
		return errors.New("git cat-file: truncated output")
	}
	return nil
}

// A listener takes the answers as they come, so that no more than one of them is held
// at a time.
type listener struct {
	names []string // that are not answered
	f     func(name string, o object) error
	size  int
	text  []byte // that was not understood yet
	skip  int    // how much follows that nobody wants
	err   error
}

func (l *listener) Write(b []byte) (int, error) {
	n := len(b)
	skipped := min(l.skip, len(b))
	l.skip -= skipped
	if b = b[skipped:]; l.err == nil && len(b) > 0 {
		l.text = append(l.text, b...)
		l.err = l.listen()
	}
	if l.err != nil {
		return 0, l.err
	}
	return n, nil
}

// listen takes what is there whole.
func (l *listener) listen() error {
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
		case size >= 0 && o.kind != "tree": // a file, however large, that is in a directory's place
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

// keep keeps the end of the text until more comes.
func (l *listener) keep(rest []byte) {
	if len(rest) < len(l.text) { // a long answer comes in many pieces
		l.text = append(l.text[:0], rest...)
	}
}

// head reads the line that an answer begins with; size is that of what follows, -1
// when nothing does.
func (l *listener) head(line string) (o object, size int, err error) {
	o.size = l.size
	word := strings.Fields(line)
	switch {
	case line == l.names[0]+" missing":
		return o, -1, nil
	case len(word) == 2 && word[1] == "submodule": // the word of newer gits
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
