package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// Sizes returns the sizes of contents in bytes, in their order; -1 for a missing one.
func (r Reader) Sizes(ctx context.Context, ids []repo.ID) ([]int64, error) {
	sizes, err := r.sizes(ctx, ids)
	if !WouldFetch(err) {
		return sizes, err
	}
	here, err := r.available(ctx, ids)
	if err != nil {
		return nil, err
	}
	var some []repo.ID
	for _, id := range ids {
		if here[id] {
			some = append(some, id)
		}
	}
	found, err := r.sizes(ctx, some)
	if err != nil {
		return nil, err
	}
	sizes = make([]int64, len(ids))
	for i, id := range ids {
		if sizes[i] = -1; here[id] {
			sizes[i], found = found[0], found[1:]
		}
	}
	return sizes, nil
}

// WouldFetch reports whether git failed because a partial clone has not fetched an object. Old versions of git
// fail at the first missing content. Newer ones fail only if they need the object.
func WouldFetch(err error) bool {
	why, refused := errors.AsType[*command.Error](err)
	return refused && strings.Contains(why.Text, "promisor")
}

// available returns which contents a partial clone has.
func (r Reader) available(ctx context.Context, ids []repo.ID) (map[repo.ID]bool, error) {
	out, err := r.Git.Read(ctx, names(ids), "rev-list", "--objects", "--no-object-names", "--no-walk",
		"--ignore-missing", "--missing=allow-any", "--stdin")
	if err != nil {
		return nil, err
	}
	here := make(map[repo.ID]bool)
	for line := range strings.FieldsSeq(out) {
		id, err := repo.ParseID(line)
		if err != nil {
			return nil, fmt.Errorf("git rev-list: %w", err)
		}
		here[id] = true
	}
	return here, nil
}

// names returns ids, one per line.
func names(ids []repo.ID) *strings.Reader {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(id.String() + "\n")
	}
	return strings.NewReader(b.String())
}

func (r Reader) sizes(ctx context.Context, ids []repo.ID) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	w := &sizeWriter{sizes: make([]int64, 0, len(ids))}
	args := []string{"cat-file", "--buffer", "--batch-check=%(objectsize)"}
	status, stderr, err := r.Git.Run(ctx, command.Call{Args: args, Stdin: names(ids), Stdout: w, IdleTimeoutOnly: true})
	switch {
	case w.err != nil:
		return nil, w.err
	case err != nil:
		return nil, err
	case status != 0:
		return nil, r.Git.Failed(args, status, lastComplaint(stderr))
	case len(w.rest) > 0 || len(w.sizes) != len(ids):
		return nil, errors.New("git cat-file: truncated output")
	}
	return w.sizes, nil
}

// lastComplaint returns the last line of stderr. When a fetch fails, git prints first the reason and then the
// object.
func lastComplaint(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return lines[len(lines)-1]
}

// A sizeWriter parses sizes, one per line. A line for a missing object has its name and a reason.
type sizeWriter struct {
	sizes []int64
	rest  []byte // the start of an incomplete line
	err   error
}

// Write parses the next part of the output.
func (w *sizeWriter) Write(p []byte) (int, error) {
	n := len(p)
	for w.err == nil {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		w.rest, p = append(w.rest, line...), rest
		if !ended {
			return n, nil
		}
		text := string(w.rest)
		w.rest = w.rest[:0]
		size, err := strconv.ParseInt(text, 10, 64)
		switch {
		case strings.HasSuffix(text, " missing"):
			size = -1
		case err != nil || size < 0:
			w.err = fmt.Errorf("git cat-file: cannot read %q", text)
			return 0, w.err
		}
		w.sizes = append(w.sizes, size)
	}
	return 0, w.err
}
