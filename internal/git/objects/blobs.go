package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// MaxBlob limits the part of a content that is kept in memory. A small compressed object can have a huge
// content.
const MaxBlob = 4 << 20

// Blobs returns contents by their ids, and only the beginning of a large one. A missing one is an error.
func (r Reader) Blobs(ctx context.Context, ids []repo.ID) ([][]byte, error) {
	var found [][]byte
	w := &blobWriter{visit: func(content []byte, _ int64) { found = append(found, content) }}
	if err := r.catBlobs(ctx, ids, w); err != nil {
		return nil, err
	}
	return found, nil
}

// EachBlob is Blobs for many contents, some of which may be missing. It calls visit with each content and its
// size, in order. If the size is larger than the content, the content is only the beginning. A missing
// object, or one that is not a blob, is nil with size -1. EachBlob fetches nothing.
func (r Reader) EachBlob(ctx context.Context, ids []repo.ID, visit func(i int, content []byte, size int64)) error {
	next := 0
	report := func(content []byte, size int64) {
		next++
		visit(next-1, content, size)
	}
	err := r.catBlobs(ctx, ids, &blobWriter{lenient: true, visit: report})
	if !WouldFetch(err) {
		return err
	}
	here, err := r.available(ctx, ids[next:])
	if err != nil {
		return err
	}
	skipMissing := func() {
		for next < len(ids) && !here[ids[next]] {
			report(nil, -1)
		}
	}
	skipMissing()
	rest := slices.DeleteFunc(slices.Clone(ids[next:]), func(id repo.ID) bool { return !here[id] })
	return r.catBlobs(ctx, rest, &blobWriter{lenient: true, visit: func(content []byte, size int64) {
		report(content, size)
		skipMissing()
	}})
}

func (r Reader) catBlobs(ctx context.Context, ids []repo.ID, w *blobWriter) error {
	if len(ids) == 0 {
		return nil
	}
	args := []string{"cat-file", "--buffer", "--batch"}
	err := r.Git.Stream(ctx, command.Call{Args: args, Stdin: names(ids), Stdout: w, IdleTimeoutOnly: true})
	switch {
	case w.err != nil:
		return w.err
	case err != nil:
		return err
	case w.inside || w.seen != len(ids):
		return errors.New("git cat-file: truncated output")
	}
	return nil
}

// A blobWriter parses the output of git cat-file --batch while git writes it: for each object a line with
// name, kind and size, then the content and a newline.
type blobWriter struct {
	visit   func(content []byte, size int64)
	seen    int
	lenient bool // a missing object, or one that is not a blob, is nil

	head   []byte // the start of an incomplete line
	inside bool   // within a content
	size   int64  // of the content
	left   int64  // bytes to come, with the newline
	skip   bool   // the object is not a blob
	body   []byte // the content, up to MaxBlob
	err    error
}

// Write parses the next part of the output.
func (w *blobWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && w.err == nil {
		if !w.inside {
			line, rest, ended := bytes.Cut(p, []byte{'\n'})
			w.head, p = append(w.head, line...), rest
			if ended {
				w.begin(string(w.head))
				w.head = nil
			}
			continue
		}
		k := min(w.left, int64(len(p)))
		if room := MaxBlob - len(w.body); room > 0 && !w.skip {
			keep := min(k, int64(room))
			if k == w.left && keep == k {
				keep-- // without the newline
			}
			w.body = append(w.body, p[:keep]...)
		}
		w.left -= k
		w.inside, p = w.left > 0, p[k:]
		if !w.inside {
			if w.skip {
				w.size = -1
			}
			w.end(w.body, w.size)
		}
	}
	return n, w.err
}

// begin parses the line before a content.
func (w *blobWriter) begin(line string) {
	word := strings.Fields(line)
	switch {
	case len(word) == 2 && w.lenient:
		w.end(nil, -1)
	case len(word) == 2:
		w.err = fmt.Errorf("read content %s: git does not have it", word[0])
	case len(word) != 3 || word[1] != "blob" && !w.lenient:
		w.err = fmt.Errorf("git cat-file: cannot read %q", line)
	default:
		size, err := strconv.ParseInt(word[2], 10, 64)
		if err != nil || size < 0 {
			w.err = fmt.Errorf("git cat-file: cannot read %q", line)
			return
		}
		if w.skip = word[1] != "blob"; !w.skip {
			w.body = make([]byte, 0, min(size, MaxBlob))
		}
		w.inside, w.size, w.left = true, size, size+1
	}
}

// end passes a content to visit.
func (w *blobWriter) end(content []byte, size int64) {
	w.seen++
	w.body = nil
	w.visit(content, size)
}
