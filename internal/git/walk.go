package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"ken/internal/repo"
)

// walkFormat prints the head of a commit: five fields, each ended by a NUL, which
// no text of a commit can hold. A trailer ends with its line.
const walkFormat = "--format=%H%x00%P%x00%aI%x00%s%x00%(trailers:only,unfold"

// Walk calls f with every commit that can be reached from heads and not from known,
// in the order git finds them: mostly children first, though skewed dates may put a
// parent first, and name one that known reaches. It is one run of git, read as it
// goes. Trailers are those of the given keys.
//
// An error from f ends the walk and is returned. A history that cannot be read whole
// is an error, at the latest when git ends.
func (r *Repo) Walk(ctx context.Context, heads, known []repo.ID, keys []string, f func(repo.Commit) error) error {
	var revisions bytes.Buffer
	for _, id := range heads {
		fmt.Fprintf(&revisions, "%s\n", id)
	}
	for _, id := range known {
		fmt.Fprintf(&revisions, "^%s\n", id)
	}
	return r.walk(ctx, &revisions, nil, walkFormat, keys, f)
}

// walk runs git log over revisions, a line each, with more options. The format is walkFormat, or one with
// another date.
func (r *Repo) walk(ctx context.Context, revisions io.Reader, options []string, format string, keys []string, f func(repo.Commit) error) error {
	for _, key := range keys {
		format += ",key=" + key
	}
	args := []string{
		"log", "--raw", "-c", "-z", "--no-renames", "--no-abbrev", "--no-show-signature", "--no-notes", "--no-ext-diff",
		"--no-textconv", "-O/dev/null", "--ignore-submodules=none", "--root", "--no-color", "--no-decorate", "--no-mailmap", "--encoding=UTF-8",
		format + ")%x00",
	}
	args = append(append(args, options...), "--stdin", "--")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &walker{f: f, stop: stop}
	// Without it git writes each commit by itself, which costs a tenth.
	whole := []string{"GIT_FLUSH=0"}
	status, stderr, err := r.run(ctx, call{args: args, stdin: revisions, stdout: w, env: whole, steady: true})
	switch {
	case w.err != nil:
		return w.err
	case err != nil:
		return err
	case status != 0:
		return r.failed(args, status, stderr)
	}
	return w.end()
}

// A walker reads the output of a walk as it comes.
type walker struct {
	f    func(repo.Commit) error
	stop context.CancelCauseFunc
	err  error // the first, of f's or of the text's

	rest   []byte // the beginning of a token
	head   [5]string
	fields int // of the head that were read
	entry  string
	commit repo.Commit
	open   bool // commit waits for its changes
}

// Write takes a piece of the output.
func (w *walker) Write(b []byte) (int, error) {
	n := len(b)
	for w.err == nil {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			w.rest = append(w.rest, b...)
			if len(w.rest) > maxToken {
				w.fail(errors.New("git log: a text without end"))
			}
			break
		}
		token := string(b[:i])
		if len(w.rest) > 0 {
			token = string(append(w.rest, b[:i]...))
			w.rest = w.rest[:0]
		}
		b = b[i+1:]
		if err := w.token(token); err != nil {
			w.fail(err)
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, nil
}

// maxToken is longer than any subject or path that a person wrote.
const maxToken = 64 << 20

func (w *walker) fail(err error) {
	w.err = err
	w.stop(err)
}

// token takes the next field, entry or path.
func (w *walker) token(t string) error {
	switch {
	case w.entry != "":
		entry := w.entry
		w.entry = ""
		return w.change(entry, t)
	case w.fields > 0:
		return w.field(t)
	}
	t = strings.TrimLeft(t, "\n")
	switch {
	case t == "":
		return nil
	case t[0] == ':' && w.open:
		w.entry = t
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.field(t)
}

// field takes the next field of a head.
func (w *walker) field(t string) (err error) {
	w.head[w.fields] = t
	if w.fields++; w.fields < len(w.head) {
		return nil
	}
	w.fields = 0
	w.commit, err = parseHead(w.head)
	w.open = err == nil
	return err
}

func parseHead(head [5]string) (repo.Commit, error) {
	c := repo.Commit{Date: head[2], Subject: head[3]}
	var err error
	if c.ID, err = repo.ParseID(head[0]); err != nil {
		return c, fmt.Errorf("git log: commit %q: %w", head[0], err)
	}
	for parent := range strings.FieldsSeq(head[1]) {
		id, err := repo.ParseID(parent)
		if err != nil {
			return c, fmt.Errorf("git log: parent %q of %s: %w", parent, c.ID, err)
		}
		c.Parents = append(c.Parents, id)
	}
	for line := range strings.Lines(head[4]) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if ok {
			c.Trailers = append(c.Trailers, repo.Trailer{Key: key, Value: strings.TrimSpace(value)})
		}
	}
	return c, nil
}

// change takes an entry, whose modes and ids are those of each parent and then of
// the result, and its path.
func (w *walker) change(entry, path string) error {
	parents := len(entry) - len(strings.TrimLeft(entry, ":"))
	words := strings.Fields(entry[parents:])
	if len(words) != 2*(parents+1)+1 || path == "" {
		return fmt.Errorf("git log: cannot read %q of %s", entry, w.commit.ID)
	}
	modes, ids, status := words[:parents+1], words[parents+1:2*(parents+1)], words[2*(parents+1)]
	before, err := repo.ParseID(ids[0])
	if err != nil {
		return fmt.Errorf("git log: %q of %s: %w", entry, w.commit.ID, err)
	}
	after, err := repo.ParseID(ids[parents])
	if err != nil {
		return fmt.Errorf("git log: %q of %s: %w", entry, w.commit.ID, err)
	}
	c := repo.Change{Path: repo.Path(path), Old: before, New: after, OldMode: octal(modes[0]), NewMode: octal(modes[parents])}
	switch {
	case after.IsZero():
		c.Kind = repo.Deleted
	case strings.Trim(status, "A") == "":
		c.Kind = repo.Added
	case before == after && modes[0] != modes[parents]:
		c.Kind = repo.ModeFlipped
	}
	w.commit.Changes = append(w.commit.Changes, c)
	return nil
}

// octal reads a mode, 0 when it is none.
func octal(s string) repo.Mode {
	var m repo.Mode
	for i := range len(s) {
		if s[i] < '0' || s[i] > '7' {
			return 0
		}
		m = m<<3 | repo.Mode(s[i]-'0')
	}
	return m
}

// flush hands over the commit whose changes are complete.
func (w *walker) flush() error {
	if !w.open {
		return nil
	}
	w.open = false
	c := w.commit
	w.commit = repo.Commit{}
	return w.f(c)
}

// end hands over the last commit, unless the text ended in its midst.
func (w *walker) end() error {
	if len(bytes.TrimLeft(w.rest, "\n")) > 0 || w.entry != "" || w.fields > 0 {
		return errors.New("git log: the answer ends in the midst of a commit")
	}
	return w.flush()
}
