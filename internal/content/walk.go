package content

import (
	"errors"
	"strings"

	"ken/internal/repo"
)

// maxOpen bounds the directories one walk holds open. Real trees are shallower;
// a path with a thousand levels costs time instead of descriptors.
const maxOpen = 32

var errPath = errors.New("not a path inside the work tree")

// A walk is one worker's place in the tree: the directories from the root to
// the one entered last, held open so that the next path, most often a
// neighbour, costs one system call and no lookup from the root. Holding them
// also settles what a name means: a parent swapped for a link between two calls
// cannot lead a walk outside.
type walk struct {
	prefix string // the path of the deepest level, with a slash behind it
	levels []level
}

// A level is a directory on the way, or the first thing that was not one: its
// err then answers for everything below without asking again.
type level struct {
	next   int // the directory is prefix[:next]; names in it begin here
	dir    dir
	closed bool // given up for maxOpen
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

// enter returns the directory that holds p, open until the next call, and p's
// name in it.
func (w *walk) enter(p repo.Path) (d dir, name string, err error) {
	s := string(p)
	for {
		l := &w.levels[len(w.levels)-1]
		if !l.closed && len(s) >= l.next && s[:l.next] == w.prefix[:l.next] {
			break // the root at the latest: it is a prefix of all and never closed
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

// local reports whether every element of s is the name of something in the
// directory before it. An index can be hostile, and these paths reach the
// system as they are.
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
