package content

import (
	"errors"
	"strings"

	"ken/internal/repo"
)

// maxOpen limits the open directories of one walk. Real trees are shallower. A path with a thousand levels
// takes more time instead of more descriptors.
const maxOpen = 32

var errPath = errors.New("not a path inside the work tree")

// A walk is one worker's position in the tree: the open directories from the root to the current one. The
// next path is usually close, so it costs one system call and no lookup from the root. Open directories are
// also safe: if another process replaces a parent with a link, the walk does not leave the root.
type walk struct {
	prefix string // path of the deepest level, with a trailing slash
	levels []level
}

// A level is a directory of the current path. If err is set, it could not be opened, and err applies to all
// paths below it.
type level struct {
	next   int // the directory is prefix[:next]
	dir    dir
	closed bool // closed because of maxOpen
	err    error
}

func newWalk(root string) (*walk, error) {
	d, err := openRoot(root)
	if err != nil {
		return nil, err
	}
	return &walk{levels: append(make([]level, 0, 16), level{dir: d})}, nil
}

func (w *walk) close() {
	for len(w.levels) > 0 {
		w.leave()
	}
}

func (w *walk) leave() {
	last := len(w.levels) - 1
	if l := &w.levels[last]; l.err == nil && !l.closed {
		l.dir.close()
	}
	w.levels = w.levels[:last]
}

// enter opens the parent directory of p, until the next call. It also returns the name of p in it.
func (w *walk) enter(p repo.Path) (d dir, name string, err error) {
	s := string(p)
	for {
		l := &w.levels[len(w.levels)-1]
		if !l.closed && len(s) >= l.next && s[:l.next] == w.prefix[:l.next] {
			break // the root is a prefix of every path and is never closed
		}
		w.leave()
	}
	l := &w.levels[len(w.levels)-1]
	w.prefix = w.prefix[:l.next]
	name = s[l.next:]
	if !local(name) {
		return dir{}, "", &pathError{"refuse", p, errPath}
	}
	for l.err == nil {
		i := strings.IndexByte(name, '/')
		if i < 0 {
			return l.dir, name, nil
		}
		down := level{next: l.next + i + 1}
		w.prefix = s[:down.next]
		if down.dir, err = l.dir.sub(name[:i]); err != nil {
			down.err = &pathError{"enter", p[:down.next-1], err}
		}
		if len(w.levels) >= maxOpen {
			l.dir.close()
			l.closed = true
		}
		name = name[i+1:]
		w.levels = append(w.levels, down)
		l = &w.levels[len(w.levels)-1]
	}
	return dir{}, "", l.err
}

// local reports whether every element of s is a name in its parent directory. An index can be malicious, and
// these paths are passed to the system unchanged.
func local(s string) bool {
	if strings.IndexByte(s, 0) >= 0 {
		return false
	}
	for {
		elem, rest, more := strings.Cut(s, "/")
		if elem == "" || elem == "." || elem == ".." || !validName(elem) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}
