package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// FirstParents calls f with the newest n commits of a branch, the newest first: from
// head along first parents, each with its changes against the first parent, so that a
// merge has what it brought to the branch. It is one run of git, read as it goes.
//
// Where a shallow clone ends, git takes a commit for a first one that holds everything.
// What that one changed cannot be known: f never sees it, and cut is true.
func (r *Repo) FirstParents(ctx context.Context, head repo.ID, n int, f func(repo.Commit) error) (cut bool, err error) {
	options := []string{"--first-parent", "--diff-merges=first-parent", "--max-count=" + strconv.Itoa(n)}
	err = r.walk(ctx, strings.NewReader(head.String()+"\n"), options, nil, func(c repo.Commit) error {
		if len(c.Parents) == 0 {
			var err error
			if cut, err = r.cutOff(c.ID); err != nil || cut {
				return err
			}
		}
		return f(c)
	})
	if why, refused := errors.AsType[*refusal](err); refused {
		err = &fault.Error{
			Hint: "if this is a partial clone, fetch what is missing: git fetch --refetch --no-filter",
			Err:  fmt.Errorf("walk the history of %s: %w", head.Short(), why),
		}
	}
	return cut, err
}

// EntriesAt is FilesAt without sizes, so that contents that are not here do not matter.
func (r *Repo) EntriesAt(ctx context.Context, commit repo.ID) ([]TreeFile, error) {
	out, err := r.read(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit.String())
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit.Short(), err)
	}
	var files []TreeFile
	for len(out) > 0 {
		item, rest, ended := strings.Cut(out, "\x00")
		fields, name, tabbed := strings.Cut(item, "\t")
		part := strings.Split(fields, " ")
		if !ended || !tabbed || len(part) != 3 {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", item)
		}
		out = rest
		f := TreeFile{Path: repo.Path(name), Mode: octal(part[0])}
		if f.ID, err = repo.ParseID(part[2]); err != nil {
			return nil, fmt.Errorf("git ls-tree: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// Sizes returns how many bytes contents have, in their order, -1 for one that is not
// here.
func (r *Repo) Sizes(ctx context.Context, ids []repo.ID) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var names strings.Builder
	for _, id := range ids {
		names.WriteString(id.String() + "\n")
	}
	w := &sizeWriter{sizes: make([]int64, 0, len(ids))}
	args := []string{"cat-file", "--buffer", "--batch-check=%(objectsize)"}
	status, stderr, err := r.run(ctx, call{args: args, stdin: strings.NewReader(names.String()), stdout: w, steady: true})
	switch {
	case w.err != nil:
		return nil, w.err
	case err != nil:
		return nil, err
	case status != 0:
		return nil, r.failed(args, status, stderr)
	case len(w.rest) > 0 || len(w.sizes) != len(ids):
		return nil, errors.New("git cat-file: the answer breaks off")
	}
	return w.sizes, nil
}

// A sizeWriter reads sizes, a line each, or what was asked for and why there is none.
type sizeWriter struct {
	sizes []int64
	rest  []byte // of a line that is not complete
	err   error
}

// Write takes the next piece.
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
