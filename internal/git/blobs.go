package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	if len(ids) == 0 {
		return nil, nil
	}
	var names strings.Builder
	for _, id := range ids {
		names.WriteString(id.String() + "\n")
	}
	args := []string{"cat-file", "--buffer", "--batch"}
	w := &blobWriter{}
	status, stderr, err := r.run(ctx, call{args: args, stdin: strings.NewReader(names.String()), stdout: w, steady: true})
	switch {
	case w.err != nil:
		return nil, w.err
	case err != nil:
		return nil, err
	case status != 0:
		return nil, r.failed(args, status, stderr)
	case w.inside || len(w.found) != len(ids):
		return nil, errors.New("git cat-file: the answer breaks off")
	}
	return w.found, nil
}

// A blobWriter reads the answer of git cat-file --batch as it comes: of each object a
// line with its name, kind and size, its content, and a line end.
type blobWriter struct {
	head   []byte // of a line that is not complete
	inside bool   // of a content
	left   int64  // of it, the line end included
	found  [][]byte
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
		last := len(w.found) - 1
		if room := maxBlob - len(w.found[last]); room > 0 {
			keep := min(k, int64(room))
			if k == w.left && keep == k {
				keep-- // the line end
			}
			w.found[last] = append(w.found[last], p[:keep]...)
		}
		w.left -= k
		w.inside, p = w.left > 0, p[k:]
	}
	return n, w.err
}

// begin reads the line before a content.
func (w *blobWriter) begin(line string) {
	word := strings.Fields(line)
	switch {
	case len(word) == 2:
		w.err = fmt.Errorf("read content %s: it is not here", word[0])
	case len(word) != 3 || word[1] != "blob":
		w.err = fmt.Errorf("git cat-file: cannot read %q", line)
	default:
		size, err := strconv.ParseInt(word[2], 10, 64)
		if err != nil || size < 0 {
			w.err = fmt.Errorf("git cat-file: cannot read %q", line)
			return
		}
		w.found = append(w.found, make([]byte, 0, min(size, maxBlob)))
		w.inside, w.left = true, size+1
	}
}
