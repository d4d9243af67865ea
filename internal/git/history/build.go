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

// A Builder collects the commits of a walk, and makes a segment of those that the index does not
// have yet. Commits may come in any order and more than once. The builder stores a few bytes for
// each commit and each change, and each path once.
type Builder struct {
	before *Index
	filter repo.HistoryFilter
	lost   []repo.ID // tips of before that are no longer in the repository
	size   int       // size of an object id in bytes
	first  int       // number of the first new commit

	ids     []byte // ids of the commits, in the order of the walk
	parents []byte // ids of all parents
	commits []walkedCommit
	text    []byte
	paths   map[string]uint32
	names   []string // paths by number
	touches []uint32 // number of the path, and the kind in the lowest two bits
	moving  []uint32 // commits that may have moved a file that the filter follows

	numbers *order      // set by Number
	moves   []repo.Move // by ascending number
}

// A walkedCommit has the ends of a commit's parts in the lists of the builder. They start at the ends
// of the previous commit.
type walkedCommit struct {
	parents, touches, text int
	sec                    int64
	zone                   int16
	marked                 bool
}

// NewBuilder returns a Builder of commits for an index, which may be empty.
func NewBuilder(before *Index, format repo.ObjectFormat, filter repo.HistoryFilter) *Builder {
	return &Builder{before: before, filter: filter, size: format.Size(), first: int(before.Len()), paths: make(map[string]uint32)}
}

// maxPaths is the number of paths that 30 bits can count.
const maxPaths = 1 << 30

// Add adds a commit. It ignores a commit that the index has.
func (b *Builder) Add(c repo.Commit) error {
	if _, known := b.before.Find(c.ID); known {
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
	deleted, added := false, false
	for _, ch := range c.Changes {
		path, ok := b.paths[string(ch.Path)]
		if !ok {
			if path = uint32(len(b.names)); path == maxPaths {
				return errors.New("too many paths")
			}
			name := string(ch.Path)
			b.paths[name] = path
			b.names = append(b.names, name)
		}
		b.touches = append(b.touches, path<<2|uint32(ch.Kind))
		if (ch.Kind == repo.Added || ch.Kind == repo.Deleted) && b.filter.Follows(ch.Path) {
			deleted = deleted || ch.Kind == repo.Deleted
			added = added || ch.Kind == repo.Added
		}
	}
	// A file that a merge moved can have a different name in each parent.
	if added && (deleted || len(c.Parents) > 1) {
		b.moving = append(b.moving, uint32(len(b.commits)))
	}
	if b.filter.Read != nil {
		c.Trailers = b.filter.Read(c)
	}
	w := walkedCommit{marked: slices.ContainsFunc(c.Trailers, b.marks)}
	var usual bool
	if w.sec, w.zone, usual = parseDate(c.Date); !usual {
		w.sec, w.zone = 0, zoneInText
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

// DropTip removes a tip of the index that is no longer in the repository.
func (b *Builder) DropTip(id repo.ID) { b.lost = append(b.lost, id) }

// Number numbers the commits, parents before children. The error is [ErrInconsistent] if a parent is
// neither in the index nor among the new commits, or if a commit is its own ancestor.
func (b *Builder) Number() error {
	o, err := b.order()
	b.numbers = o
	return err
}

// marks reports whether a trailer marks its commit.
func (b *Builder) marks(t repo.Trailer) bool {
	return b.filter.Marker != "" && strings.HasPrefix(strings.ToLower(t.Key), strings.ToLower(b.filter.Marker))
}

// id returns the id of the i-th commit of the walk.
func (b *Builder) id(i uint32) []byte { return b.ids[int(i)*b.size : (int(i)+1)*b.size] }

// ends returns the i-th commit of the walk, and the previous one, whose ends are its starts.
func (b *Builder) ends(i uint32) (from, to walkedCommit) {
	if i > 0 {
		from = b.commits[i-1]
	}
	return from, b.commits[i]
}

// An order has the numbers of the commits of a walk.
type order struct {
	byID    []uint32 // positions in the walk, sorted by id, each commit once
	walked  []uint32 // position in the walk of each number, from first on
	number  []int32  // number of each position in the walk; unnumbered for a repeated commit
	parents []int32  // numbers of all parents, in the order of Builder.parents
}

// ErrInconsistent says that commits do not form a history.
var ErrInconsistent = errors.New("git log")

const (
	unnumbered = -1
	inProgress = -2 // its parents get their numbers first
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
	// A walk usually ends with the oldest commit, so starting at the end keeps the stack small.
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
				o.number[top] = inProgress
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

// waitsFor returns a parent of the commit that has no number yet, -1 if there is none.
func (b *Builder) waitsFor(o *order, i uint32) (int32, error) {
	from, to := b.ends(i)
	for _, p := range o.parents[from.parents:to.parents] {
		switch {
		case p < 0:
		case o.number[p] == inProgress:
			return 0, fmt.Errorf("%w: commit %s is among its own ancestors", ErrInconsistent, repo.IDFromBytes(b.id(uint32(p))))
		case o.number[p] == unnumbered:
			return p, nil
		}
	}
	return -1, nil
}

// resolve finds the parents. Each becomes its position in the walk, or ^number if the index has it.
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

// sorted returns the positions of the commits sorted by id. Of a repeated commit it returns the
// first position.
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

// writeSegment writes the sections of the segment.
func (b *Builder) writeSegment() *segmentWriter {
	o := b.numbers
	w := &segmentWriter{size: b.size, first: b.first, count: len(o.walked)}
	w.section[secIDs] = make([]byte, 0, w.count*b.size)
	w.section[secCommits] = make([]byte, 0, w.count*recordSize)
	w.section[secText] = make([]byte, 0, len(b.text)+2*w.count)
	for k, i := range o.walked {
		from, to := b.ends(i)
		w.section[secIDs] = append(w.section[secIDs], b.id(i)...)
		w.addCommit(o.parents[from.parents:to.parents], to)
		if k%commitsPerTextStart == 0 {
			w.section[secTextStarts] = binary.LittleEndian.AppendUint64(w.section[secTextStarts], uint64(len(w.section[secText])))
		}
		w.section[secText] = appendText(w.section[secText], b.text[from.text:to.text])
		if to.marked {
			w.add(secMarked, uint32(b.first+k))
		}
	}
	for _, i := range o.byID {
		w.add(secByID, uint32(int(o.number[i])-b.first))
	}
	for _, m := range b.moves {
		w.addMove(m)
	}
	for _, n := range b.tips(o) {
		w.add(secTips, n)
	}
	b.addPaths(w, o)
	return w
}

// addCommit appends the record of a commit.
func (w *segmentWriter) addCommit(parents []int32, c walkedCommit) {
	first, second := uint32(noParent), uint32(noParent)
	if len(parents) > 0 {
		first = uint32(parents[0])
	}
	switch len(parents) {
	case 0, 1:
	case 2:
		second = uint32(parents[1])
	default:
		second = uint32(len(w.section[secParents])/4) | listFlag
		for i, p := range parents[1:] {
			n := uint32(p)
			if i == len(parents)-2 {
				n |= listFlag
			}
			w.add(secParents, n)
		}
	}
	w.add(secCommits, first)
	w.add(secCommits, second)
	w.section[secCommits] = binary.LittleEndian.AppendUint64(w.section[secCommits], uint64(c.sec))
	w.section[secCommits] = binary.LittleEndian.AppendUint16(w.section[secCommits], uint16(c.zone))
}

// addMove appends a move.
func (w *segmentWriter) addMove(m repo.Move) {
	sec := binary.AppendUvarint(w.section[secMoves], uint64(m.Commit))
	same := uint64(0)
	if m.Same {
		same = 1
	}
	sec = binary.AppendUvarint(sec, same)
	sec = appendText(sec, string(m.From))
	w.section[secMoves] = appendText(sec, string(m.To))
}

// tips returns the sorted numbers of the commits without children, including those of the index.
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

// addPaths writes the paths and their commits. A first pass over the changes computes the size of
// each path's list, a second pass writes the lists.
func (b *Builder) addPaths(w *segmentWriter, o *order) {
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
	w.paths.touches = make([]byte, 0, total)
	for _, i := range inOrder {
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		w.paths.add([]byte(b.names[i]), lists[start:ends[i]])
	}
}

// eachTouch calls f with every change of a path, in the order of the commits, as the file stores
// it: the difference to the path's previous commit, and the kind.
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
