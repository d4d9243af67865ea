package history

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A Builder takes the commits of a walk, in any order and some of them twice, and
// makes a segment of those that the history before it has not. It keeps a few bytes
// for each commit and each change, and each path once.
type Builder struct {
	before *Index
	filter repo.HistoryFilter
	lost   []repo.ID // tips of it that are no longer in the repository
	size   int       // of an object id
	first  int

	ids     []byte // of the commits, in the order of the walk
	parents []byte // ids too
	commits []walkedCommit
	text    []byte
	paths   map[string]uint32
	names   []string // by the number that paths gives them
	touches []uint32 // number of the path and kind
	moving  []uint32 // the commits that may have moved a file that the filter follows

	numbers *order      // set by Number
	moves   []repo.Move // by ascending number
}

// A walkedCommit says where in the builder's lists the parts of a commit end; they
// begin where those of the commit before end.
type walkedCommit struct {
	parents, touches, text int
	sec                    int64
	zone                   int16
	marked                 bool
}

// NewBuilder returns a Builder for commits that come after an index, which may be empty.
func NewBuilder(before *Index, format repo.ObjectFormat, filter repo.HistoryFilter) *Builder {
	return &Builder{before: before, filter: filter, size: format.Size(), first: int(before.Len()), paths: make(map[string]uint32)}
}

// maxPaths is how many paths fit beside a kind.
const maxPaths = 1 << 30

// Add takes a commit of the walk.
func (b *Builder) Add(c repo.Commit) error {
	if _, again := b.before.Find(c.ID); again {
		return nil
	}
	if len(c.ID.Bytes()) != b.size {
		return fmt.Errorf("commit %s has an id of another format", c.ID)
	}
	b.ids = append(b.ids, c.ID.Bytes()...)
	for _, p := range c.Parents {
		if len(p.Bytes()) != b.size {
			return fmt.Errorf("parent %s of commit %s has an id of another format", p, c.ID)
		}
		b.parents = append(b.parents, p.Bytes()...)
	}
	gone, come := false, false
	for _, ch := range c.Changes {
		path, ok := b.paths[string(ch.Path)]
		if !ok {
			if path = uint32(len(b.names)); path == maxPaths {
				return errors.New("more paths than can be counted")
			}
			name := string(ch.Path)
			b.paths[name] = path
			b.names = append(b.names, name)
		}
		b.touches = append(b.touches, path<<2|uint32(ch.Kind))
		if (ch.Kind == repo.Added || ch.Kind == repo.Deleted) && b.filter.Follows(ch.Path) {
			gone = gone || ch.Kind == repo.Deleted
			come = come || ch.Kind == repo.Added
		}
	}
	// What a merge moved may have had another name in each parent.
	if come && (gone || len(c.Parents) > 1) {
		b.moving = append(b.moving, uint32(len(b.commits)))
	}
	w := walkedCommit{marked: slices.ContainsFunc(c.Trailers, b.marks)}
	var usual bool
	if w.sec, w.zone, usual = parseDate(c.Date); !usual {
		w.sec, w.zone = 0, oddZone
		b.text = appendText(b.text, c.Date)
	}
	b.text = appendText(b.text, c.Subject)
	for _, t := range c.Trailers {
		b.text = appendText(b.text, t.Key)
		b.text = appendText(b.text, t.Value)
	}
	w.parents, w.touches, w.text = len(b.parents)/b.size, len(b.touches), len(b.text)
	b.commits = append(b.commits, w)
	return nil
}

// DropTip says that a tip of the index before is no longer in the repository.
func (b *Builder) DropTip(id repo.ID) { b.lost = append(b.lost, id) }

// Number numbers the commits, parents before children. The error is [ErrInconsistent] when
// they do not form a history together with the index before.
func (b *Builder) Number() error {
	o, err := b.order()
	b.numbers = o
	return err
}

// marks reports whether a trailer marks its commit.
func (b *Builder) marks(t repo.Trailer) bool { return strings.EqualFold(t.Key, b.filter.Marker) }

// id returns the id of the commit that came i-th.
func (b *Builder) id(i uint32) []byte { return b.ids[int(i)*b.size : (int(i)+1)*b.size] }

// ends returns the walked commit, and the one before it for where its parts begin.
func (b *Builder) ends(i uint32) (from, to walkedCommit) {
	if i > 0 {
		from = b.commits[i-1]
	}
	return from, b.commits[i]
}

// An order is how the commits of a walk are numbered.
type order struct {
	byID    []uint32 // places in the walk, by ascending id, each commit once
	walked  []uint32 // the place in the walk of each number, from first on
	number  []int32  // the number of each place in the walk; unnumbered for one that is there twice
	parents []int32  // the numbers of all parents, as they lie in the builder
}

// ErrInconsistent says that commits do not form a history.
var ErrInconsistent = errors.New("git log")

const (
	unnumbered = -1
	begun      = -2 // its parents are being numbered
)

// order numbers the commits, parents before children.
func (b *Builder) order() (*order, error) {
	o := &order{number: make([]int32, len(b.commits)), byID: b.sorted()}
	if err := b.resolve(o); err != nil {
		return nil, err
	}
	for i := range o.number {
		o.number[i] = unnumbered
	}
	// Mostly the walk ends with the oldest, so that the way to a parent is short.
	once := make([]bool, len(b.commits))
	for _, i := range o.byID {
		once[i] = true
	}
	var stack []uint32
	for i := len(b.commits) - 1; i >= 0; i-- {
		if !once[i] || o.number[i] != unnumbered {
			continue
		}
		stack = append(stack[:0], uint32(i))
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			waits, err := b.waitsFor(o, top)
			if err != nil {
				return nil, err
			}
			if waits >= 0 {
				o.number[top] = begun
				stack = append(stack, uint32(waits))
				continue
			}
			o.number[top] = int32(b.first + len(o.walked))
			o.walked = append(o.walked, top)
			stack = stack[:len(stack)-1]
		}
	}
	for i, p := range o.parents {
		if p >= 0 {
			o.parents[i] = o.number[p]
		} else {
			o.parents[i] = ^p
		}
	}
	return o, nil
}

// waitsFor returns a parent of the commit that has no number yet, -1 if all have.
func (b *Builder) waitsFor(o *order, i uint32) (int32, error) {
	from, to := b.ends(i)
	for _, p := range o.parents[from.parents:to.parents] {
		switch {
		case p < 0:
		case o.number[p] == begun:
			return 0, fmt.Errorf("%w: commit %s is among its own ancestors", ErrInconsistent, repo.IDFromBytes(b.id(uint32(p))))
		case o.number[p] == unnumbered:
			return p, nil
		}
	}
	return -1, nil
}

// resolve finds the parents: each as its place in the walk, or ^number for one of
// the history before.
func (b *Builder) resolve(o *order) error {
	o.parents = make([]int32, len(b.parents)/b.size)
	for i := range o.parents {
		id := b.parents[i*b.size : (i+1)*b.size]
		if at, ok := slices.BinarySearchFunc(o.byID, id, func(i uint32, id []byte) int {
			return bytes.Compare(b.id(i), id)
		}); ok {
			o.parents[i] = int32(o.byID[at])
			continue
		}
		n, ok := b.before.Find(repo.IDFromBytes(id))
		if !ok {
			return fmt.Errorf("%w: parent %s is missing from git's output", ErrInconsistent, repo.IDFromBytes(id))
		}
		o.parents[i] = ^int32(n)
	}
	return nil
}

// sorted returns the places of the commits by their ids, the first where one is
// there twice.
func (b *Builder) sorted() []uint32 {
	type key struct {
		start uint64
		at    uint32
	}
	keys := make([]key, len(b.commits))
	for i := range keys {
		keys[i] = key{binary.BigEndian.Uint64(b.id(uint32(i))), uint32(i)}
	}
	slices.SortFunc(keys, func(x, y key) int {
		if x.start != y.start {
			return cmp.Compare(x.start, y.start)
		}
		return cmp.Or(bytes.Compare(b.id(x.at), b.id(y.at)), cmp.Compare(x.at, y.at))
	})
	list := make([]uint32, 0, len(keys))
	for i, k := range keys {
		if i == 0 || keys[i-1].start != k.start || !bytes.Equal(b.id(keys[i-1].at), b.id(k.at)) {
			list = append(list, k.at)
		}
	}
	return list
}

// draft writes the sections of the segment.
func (b *Builder) draft() *draft {
	o := b.numbers
	d := &draft{size: b.size, first: b.first, count: len(o.walked)}
	d.section[secIDs] = make([]byte, 0, d.count*b.size)
	d.section[secCommits] = make([]byte, 0, d.count*recordSize)
	d.section[secText] = make([]byte, 0, len(b.text)+2*d.count)
	for k, i := range o.walked {
		from, to := b.ends(i)
		d.section[secIDs] = append(d.section[secIDs], b.id(i)...)
		d.addCommit(o.parents[from.parents:to.parents], to)
		if k%textGroup == 0 {
			d.section[secTextStart] = binary.LittleEndian.AppendUint64(d.section[secTextStart], uint64(len(d.section[secText])))
		}
		d.section[secText] = appendText(d.section[secText], b.text[from.text:to.text])
		if to.marked {
			d.add(secMarked, uint32(b.first+k))
		}
	}
	for _, i := range o.byID {
		d.add(secByID, uint32(int(o.number[i])-b.first))
	}
	for _, m := range b.moves {
		d.addMove(m)
	}
	for _, n := range b.tips(o) {
		d.add(secTips, n)
	}
	b.addPaths(d, o)
	return d
}

// addCommit appends the record of a commit.
func (d *draft) addCommit(parents []int32, c walkedCommit) {
	first, second := uint32(noParent), uint32(noParent)
	if len(parents) > 0 {
		first = uint32(parents[0])
	}
	switch len(parents) {
	case 0, 1:
	case 2:
		second = uint32(parents[1])
	default:
		second = uint32(len(d.section[secParents])/4) | moreFlag
		for i, p := range parents[1:] {
			n := uint32(p)
			if i == len(parents)-2 {
				n |= moreFlag
			}
			d.add(secParents, n)
		}
	}
	d.add(secCommits, first)
	d.add(secCommits, second)
	d.section[secCommits] = binary.LittleEndian.AppendUint64(d.section[secCommits], uint64(c.sec))
	d.section[secCommits] = binary.LittleEndian.AppendUint16(d.section[secCommits], uint16(c.zone))
}

// addMove appends a move.
func (d *draft) addMove(m repo.Move) {
	sec := binary.AppendUvarint(d.section[secMoves], uint64(m.Commit))
	same := uint64(0)
	if m.Same {
		same = 1
	}
	sec = binary.AppendUvarint(sec, same)
	sec = appendText(sec, string(m.From))
	d.section[secMoves] = appendText(sec, string(m.To))
}

// tips returns the numbers of the commits, of the history before too, that no other
// one stands on, ascending.
func (b *Builder) tips(o *order) []uint32 {
	base := make(map[uint32]bool)
	for _, id := range b.before.Tips() {
		if n, ok := b.before.Find(id); ok && !slices.Contains(b.lost, id) {
			base[uint32(n)] = true
		}
	}
	top := make([]bool, len(o.walked))
	for i := range top {
		top[i] = true
	}
	for _, i := range o.walked {
		from, to := b.ends(i)
		for _, p := range o.parents[from.parents:to.parents] {
			if int(p) >= b.first {
				top[int(p)-b.first] = false
			} else {
				delete(base, uint32(p))
			}
		}
	}
	var tips []uint32
	for n := range base {
		tips = append(tips, n)
	}
	slices.Sort(tips)
	for i, is := range top {
		if is {
			tips = append(tips, uint32(b.first+i))
		}
	}
	return tips
}

// addPaths writes the paths and their commits: the first round over the changes
// finds how long each path's list is, the second one writes it in its place.
func (b *Builder) addPaths(d *draft, o *order) {
	ends := make([]int, len(b.names))
	b.eachTouch(o, func(path uint32, v uint64) { ends[path] += uvarintSize(v) })
	total := 0
	for i, n := range ends {
		ends[i] = total
		total += n
	}
	lists := make([]byte, total)
	b.eachTouch(o, func(path uint32, v uint64) { ends[path] += binary.PutUvarint(lists[ends[path]:], v) })
	inOrder := make([]uint32, len(b.names))
	for i := range inOrder {
		inOrder[i] = uint32(i)
	}
	slices.SortFunc(inOrder, func(x, y uint32) int { return cmp.Compare(b.names[x], b.names[y]) })
	d.paths.touches = make([]byte, 0, total)
	for _, i := range inOrder {
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		d.paths.add([]byte(b.names[i]), lists[start:ends[i]])
	}
}

// eachTouch calls f with every change of a path, by ascending number of the commit,
// as it is written: distance to the one before, and kind.
func (b *Builder) eachTouch(o *order, f func(path uint32, v uint64)) {
	last := make([]uint32, len(b.names))
	for k, i := range o.walked {
		n := uint32(b.first + k)
		from, to := b.ends(i)
		for _, t := range b.touches[from.touches:to.touches] {
			path := t >> 2
			f(path, uint64(n-last[path])<<2|uint64(t&3))
			last[path] = n
		}
	}
}

func uvarintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
