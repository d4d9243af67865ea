package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// maxBlob is how much is kept of one content: a small one in a repository can be a
// huge one on paper.
const maxBlob = 4 << 20

// Blobs returns contents by their ids, of a large one the beginning; one that is not
// here is an error.
func (r *Repo) Blobs(ctx context.Context, ids []repo.ID) ([][]byte, error) {
	var found [][]byte
	w := &blobWriter{see: func(content []byte, _ int64) { found = append(found, content) }}
	if err := r.catBlobs(ctx, ids, w); err != nil {
		return nil, err
	}
	return found, nil
}

// EachBlob is Blobs for many, and for what may not be here: see is called with each
// content as it comes, in order, and with its size. A size larger than the content says
// that this is but its beginning; what is not here or is no blob is nil, of size -1.
// Nothing is fetched.
func (r *Repo) EachBlob(ctx context.Context, ids []repo.ID, see func(i int, content []byte, size int64)) error {
	next := 0
	tell := func(content []byte, size int64) {
		next++
		see(next-1, content, size)
	}
	err := r.catBlobs(ctx, ids, &blobWriter{lenient: true, see: tell})
	if !wouldFetch(err) {
		return err
	}
	here, err := r.here(ctx, ids[next:])
	if err != nil {
		return err
	}
	pass := func() { // over what is not here
		for next < len(ids) && !here[ids[next]] {
			tell(nil, -1)
		}
	}
	pass()
	rest := slices.DeleteFunc(slices.Clone(ids[next:]), func(id repo.ID) bool { return !here[id] })
	return r.catBlobs(ctx, rest, &blobWriter{lenient: true, see: func(content []byte, size int64) {
		tell(content, size)
		pass()
	}})
}

func (r *Repo) catBlobs(ctx context.Context, ids []repo.ID, w *blobWriter) error {
	if len(ids) == 0 {
		return nil
	}
	var names strings.Builder
	for _, id := range ids {
		names.WriteString(id.String() + "\n")
	}
	args := []string{"cat-file", "--buffer", "--batch"}
	status, stderr, err := r.run(ctx, call{args: args, stdin: strings.NewReader(names.String()), stdout: w, steady: true})
	switch {
	case w.err != nil:
		return w.err
	case err != nil:
		return err
	case status != 0:
		return r.failed(args, status, stderr)
	case w.inside || w.seen != len(ids):
		return errors.New("git cat-file: the answer breaks off")
	}
	return nil
}

// A blobWriter reads the answer of git cat-file --batch as it comes: of each object a
// line with its name, kind and size, its content, and a line end.
type blobWriter struct {
	see     func(content []byte, size int64)
	seen    int
	lenient bool // what is not here, or is no blob, is nil

	head   []byte // of a line that is not complete
	inside bool   // of a content
	size   int64  // of it
	left   int64  // of it, the line end included
	skip   bool   // it is not wanted
	body   []byte // as much of it as is kept
	err    error
}

// Write takes the next piece.
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
		if room := maxBlob - len(w.body); room > 0 && !w.skip {
			keep := min(k, int64(room))
			if k == w.left && keep == k {
				keep-- // the line end
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

// begin reads the line before a content.
func (w *blobWriter) begin(line string) {
	word := strings.Fields(line)
	switch {
	case len(word) == 2 && w.lenient:
		w.end(nil, -1)
	case len(word) == 2:
		w.err = fmt.Errorf("read content %s: it is not here", word[0])
	case len(word) != 3 || word[1] != "blob" && !w.lenient:
		w.err = fmt.Errorf("git cat-file: cannot read %q", line)
	default:
		size, err := strconv.ParseInt(word[2], 10, 64)
		if err != nil || size < 0 {
			w.err = fmt.Errorf("git cat-file: cannot read %q", line)
			return
		}
		if w.skip = word[1] != "blob"; !w.skip {
			w.body = make([]byte, 0, min(size, maxBlob))
		}
		w.inside, w.size, w.left = true, size, size+1
	}
}

// end tells of a content.
func (w *blobWriter) end(content []byte, size int64) {
	w.seen++
	w.body = nil
	w.see(content, size)
}
