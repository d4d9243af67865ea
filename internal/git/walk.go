package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// walkFormat prints the header of a commit: six fields, each with a NUL at the end. A commit cannot contain a NUL. Each
// trailer is a line.
const walkFormat = "--format=%H%x00%P%x00%aI%x00%s%x00%(trailers:only,unfold"

// Walk calls f with every commit that heads reach and known does not, in git's order. That is usually children first. With
// wrong dates a parent can come before a child, and commits that known reaches can come, too. Commits have the trailers
// of the given keys and, if there are keys, their messages. Walk runs git once, and calls f while git runs.
//
// Walk returns the first error of f. If git cannot read a part of the history, Walk returns an error after the last
// commit.
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

// walk runs git log with revisions, one per line, and additional options. The format is walkFormat, or one with another
// date.
func (r *Repo) walk(ctx context.Context, revisions io.Reader, options []string, format string, keys []string, f func(repo.Commit) error) error {
	for _, key := range keys {
		format += ",key=" + key
	}
	message := ""
	if len(keys) > 0 {
		message = "%B"
	}
	args := []string{
		"log", "--raw", "-c", "-z", "--no-renames", "--no-abbrev", "--no-show-signature", "--no-notes", "--no-ext-diff",
		"--no-textconv", "-O/dev/null", "--ignore-submodules=none", "--root", "--no-color", "--no-decorate", "--no-mailmap", "--encoding=UTF-8",
		format + ")%x00" + message + "%x00",
	}
	args = append(append(args, options...), "--stdin", "--")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &walker{f: f, stop: stop}
	// Without GIT_FLUSH=0 git flushes after each commit, which takes a tenth longer.
	buffered := []string{"GIT_FLUSH=0"}
	err := r.git().Stream(ctx, command.Call{Args: args, Stdin: revisions, Stdout: w, Env: buffered, IdleTimeoutOnly: true})
	switch {
	case w.err != nil:
		return w.err
	case err != nil:
		return err
	}
	return w.end()
}

// A walker parses the output of git log while git writes it.
type walker struct {
	f    func(repo.Commit) error
	stop context.CancelCauseFunc
	err  error // the first error

	rest   []byte // the start of an incomplete token
	head   [6]string
	fields int // number of fields of head that are set
	entry  string
	commit repo.Commit
	open   bool // more changes of commit may come
}

// Write parses the next part of the output.
func (w *walker) Write(b []byte) (int, error) {
	n := len(b)
	for w.err == nil {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			w.rest = append(w.rest, b...)
			if len(w.rest) > maxToken {
				w.fail(errors.New("git log: a text is too long"))
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

// maxToken is the largest size of a subject or path in bytes.
const maxToken = 64 << 20

func (w *walker) fail(err error) {
	w.err = err
	w.stop(err)
}

// token processes the next field, entry or path.
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

// field processes the next field of a header.
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

func parseHead(head [6]string) (repo.Commit, error) {
	c := repo.Commit{Date: head[2], Subject: head[3], Message: head[5]}
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

// change adds a change. The entry has the modes and ids of each parent and of the commit.
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

// octal parses a mode. It returns 0 for anything else.
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

// flush passes the complete commit to f.
func (w *walker) flush() error {
	if !w.open {
		return nil
	}
	w.open = false
	c := w.commit
	w.commit = repo.Commit{}
	return w.f(c)
}

// end passes the last commit to f. It returns an error if the output is truncated.
func (w *walker) end() error {
	if len(bytes.TrimLeft(w.rest, "\n")) > 0 || w.entry != "" || w.fields > 0 {
		return errors.New("git log: truncated output")
	}
	return w.flush()
}

// Recent lists the newest commits that head reaches, at most limit, without merges. cut says
// that the clone is shallow, so older commits may be missing.
func (r *Repo) Recent(ctx context.Context, head repo.ID, limit int) (ids []repo.ID, cut bool, err error) {
	out, err := r.git().Read(ctx, nil, "rev-list", "--no-merges", "-n", strconv.Itoa(limit), head.String(), "--")
	if err != nil {
		return nil, false, err
	}
	for line := range strings.Lines(out) {
		id, err := repo.ParseID(strings.TrimSpace(line))
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, id)
	}
	shallow, err := r.optionalFile("shallow")
	return ids, shallow != "" && len(ids) < limit, err
}

// Commits calls f with each commit and its changes, in any order. The date is the committer date: a commit
// can come to a branch long after its author wrote it.
func (r *Repo) Commits(ctx context.Context, ids []repo.ID, f func(repo.Commit) error) error {
	var revisions strings.Builder
	for _, id := range ids {
		revisions.WriteString(id.String() + "\n")
	}
	format := strings.Replace(walkFormat, "%aI", "%cI", 1)
	return r.walk(ctx, strings.NewReader(revisions.String()), []string{"--no-walk=unsorted"}, format, nil, f)
}

// AuthorDate returns when the author of a commit wrote it, in RFC 3339.
func (r *Repo) AuthorDate(ctx context.Context, id repo.ID) (string, error) {
	out, err := r.git().Read(ctx, nil, "log", "--no-walk", "--format=%aI", id.String(), "--")
	return strings.TrimSpace(out), err
}
