package history

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"ken/internal/repo"
)

// Len returns the number of commits. They are numbered from 0.
func (h *Index) Len() repo.CommitNumber {
	n := 0
	for _, s := range h.segments {
		n += s.count
	}
	return repo.CommitNumber(n)
}

// Find returns the number of a commit; ok is false if the index does not have it.
func (h *Index) Find(id repo.ID) (n repo.CommitNumber, ok bool) {
	for _, s := range h.segments {
		if i, ok := s.find(id.Bytes()); ok {
			return repo.CommitNumber(s.first + i), true
		}
	}
	return 0, false
}

// Commit returns a commit by its number. It panics if the number is out of range.
func (h *Index) Commit(n repo.CommitNumber) repo.HistoryCommit {
	for _, s := range h.segments {
		if i := int(n) - s.first; i >= 0 && i < s.count {
			return s.commit(i)
		}
	}
	panic(fmt.Sprintf("history: no commit %d among %d", n, h.Len()))
}

// Parents returns the parents of all commits. The parents of a commit are in git's order.
func (h *Index) Parents() repo.ParentTable {
	h.parentsOnce.Do(h.loadParents)
	return h.parents
}

// loadParents reads the parents of all commits.
func (h *Index) loadParents() {
	commits := int(h.Len())
	starts := make([]int32, 1, commits+1)
	numbers := make([]repo.CommitNumber, 0, commits+commits/8) // merges have several parents
	for _, s := range h.segments {
		for i := range s.count {
			numbers = s.appendParents(numbers, i)
			starts = append(starts, int32(len(numbers)))
		}
	}
	h.parents = repo.ParentTable{Starts: starts, Numbers: numbers}
}

// Marked returns the commits with the filter's marker, sorted.
func (h *Index) Marked() []repo.CommitNumber {
	var list []repo.CommitNumber
	for _, s := range h.segments {
		for i := range len(s.section[secMarked]) / 4 {
			list = append(list, repo.CommitNumber(s.u32(secMarked, i)))
		}
	}
	return list
}

// Touching returns the commits that changed a path, sorted.
func (h *Index) Touching(path repo.Path) []repo.Touch {
	var list []repo.Touch
	for _, s := range h.segments {
		if c := s.seek([]byte(path)); c.ok && string(c.name) == string(path) {
			list = s.appendTouches(list, c.touches)
		}
	}
	return list
}

// appendTouches decodes the commits of a path.
func (s *segment) appendTouches(list []repo.Touch, b reader) []repo.Touch {
	n := uint64(0)
	for len(b) > 0 {
		v := b.uvarint()
		if n += v >> 2; s.has(n) {
			list = append(list, repo.Touch{Commit: repo.CommitNumber(n), Kind: repo.ChangeKind(v & 3)})
		}
	}
	return list
}

// has reports whether the segment has the commit of a number.
func (s *segment) has(n uint64) bool { return n >= uint64(s.first) && n < uint64(s.first+s.count) }

// Below returns every path that was ever below a directory, sorted. The root is "".
func (h *Index) Below(dir repo.Path) []repo.Path {
	prefix := ""
	if dir != "" {
		prefix = string(dir) + "/"
	}
	var list []repo.Path
	for _, s := range h.segments {
		for c := s.seek([]byte(prefix)); c.ok && strings.HasPrefix(string(c.name), prefix); c.next() {
			list = append(list, repo.Path(c.name))
		}
	}
	if len(h.segments) > 1 {
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}

// Since returns the paths that commits from a number on changed, with those commits. A path can be
// in the list twice, once for each segment.
func (h *Index) Since(first repo.CommitNumber) []repo.PathTouches {
	var list []repo.PathTouches
	for _, s := range h.segments {
		if s.first+s.count <= int(first) {
			continue
		}
		var touches []repo.Touch
		for c := s.block(0); c.ok; c.next() {
			touches = s.appendTouches(touches[:0], c.touches)
			from, _ := slices.BinarySearchFunc(touches, first, func(t repo.Touch, n repo.CommitNumber) int { return cmp.Compare(t.Commit, n) })
			if from < len(touches) {
				list = append(list, repo.PathTouches{Path: repo.Path(c.name), Touches: slices.Clone(touches[from:])})
			}
		}
	}
	return list
}

// Moves returns the moves of files that the filter follows, sorted by commit.
func (h *Index) Moves() []repo.Move {
	var list []repo.Move
	for _, s := range h.segments {
		b := reader(s.section[secMoves])
		for len(b) > 0 {
			n, same, from, to := b.uvarint(), b.uvarint(), b.text(), b.text()
			if s.has(n) {
				list = append(list, repo.Move{Commit: repo.CommitNumber(n), From: repo.Path(from), To: repo.Path(to), Same: same != 0})
			}
		}
	}
	return list
}

func (h *Index) id(n repo.CommitNumber) repo.ID {
	for _, s := range h.segments {
		if i := int(n) - s.first; i >= 0 && i < s.count {
			return repo.IDFromBytes(s.idBytes(i))
		}
	}
	return repo.ID{}
}

func (s *segment) idBytes(i int) []byte { return s.section[secIDs][i*s.size : (i+1)*s.size] }

// find returns the position of an id in the segment.
func (s *segment) find(id []byte) (int, bool) {
	if len(id) != s.size {
		return 0, false
	}
	at, ok := sort.Find(s.count, func(k int) int {
		return bytes.Compare(id, s.idBytes(int(s.u32(secByID, k))))
	})
	if !ok {
		return 0, false
	}
	return int(s.u32(secByID, at)), true
}

func (s *segment) commit(i int) repo.HistoryCommit {
	c := repo.HistoryCommit{ID: repo.IDFromBytes(s.idBytes(i)), Parents: s.appendParents(nil, i)}
	b := s.text(i)
	rec := s.section[secCommits][i*recordSize+8:]
	sec, zone := int64(binary.LittleEndian.Uint64(rec)), int16(binary.LittleEndian.Uint16(rec[8:]))
	if zone == zoneInText {
		c.Date = string(b.text())
	} else {
		c.Date = formatDate(sec, zone)
	}
	c.Subject = string(b.text())
	for len(b) > 0 {
		c.Trailers = append(c.Trailers, repo.Trailer{Key: string(b.text()), Value: string(b.text())})
	}
	return c
}

// appendParents appends the numbers of the i-th commit's parents, in git's order.
func (s *segment) appendParents(list []repo.CommitNumber, i int) []repo.CommitNumber {
	first, second := s.record(i)
	switch {
	case first == noParent:
		return list
	case second == noParent:
		return append(list, repo.CommitNumber(first))
	case second&listFlag == 0:
		return append(list, repo.CommitNumber(first), repo.CommitNumber(second))
	}
	list = append(list, repo.CommitNumber(first))
	for at := int(second &^ listFlag); ; at++ {
		n := s.u32(secParents, at)
		list = append(list, repo.CommitNumber(n&^listFlag))
		if n&listFlag != 0 {
			return list
		}
	}
}

// text returns the text of the i-th commit: date, subject and trailers.
func (s *segment) text(i int) reader {
	start := binary.LittleEndian.Uint64(s.section[secTextStarts][i/commitsPerTextStart*8:])
	if start > uint64(len(s.section[secText])) {
		return nil
	}
	b := reader(s.section[secText][start:])
	for range i % commitsPerTextStart {
		b.text()
	}
	return b.text()
}

// A pathCursor iterates over the paths of a segment. After the last path ok is false.
type pathCursor struct {
	ok      bool
	name    []byte
	touches reader

	rest  reader // the rest of secPaths
	after []byte // the rest of secTouches
}

// seek returns a cursor at the first path that is not less than the given one.
func (s *segment) seek(path []byte) *pathCursor {
	// The last block whose first path is not greater than path.
	k := sort.Search(len(s.section[secBlocks])/blockSize, func(k int) bool {
		paths, _ := s.blockAt(k)
		paths.uvarint()
		return bytes.Compare(paths.text(), path) > 0
	}) - 1
	c := s.block(max(k, 0))
	for c.ok && bytes.Compare(c.name, path) < 0 {
		c.next()
	}
	return c
}

// block returns a cursor at the first path of a block.
func (s *segment) block(k int) *pathCursor {
	c := &pathCursor{}
	c.rest, c.after = s.blockAt(k)
	c.next()
	return c
}

// blockAt returns the sections of paths and touches, from the start of a block on.
func (s *segment) blockAt(k int) (paths reader, touches []byte) {
	if k*blockSize >= len(s.section[secBlocks]) {
		return nil, nil
	}
	b := s.section[secBlocks][k*blockSize:]
	p, t := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if p > uint64(len(s.section[secPaths])) || t > uint64(len(s.section[secTouches])) {
		return nil, nil
	}
	return s.section[secPaths][p:], s.section[secTouches][t:]
}

// next moves to the next path, which may be in the next block.
func (c *pathCursor) next() {
	shared, rest := c.rest.uvarint(), c.rest.text()
	c.ok = len(c.rest) > 0
	size := c.rest.uvarint()
	if !c.ok || shared > uint64(len(c.name)) || size > uint64(len(c.after)) {
		*c = pathCursor{}
		return
	}
	c.name = append(c.name[:shared], rest...)
	c.touches, c.after = c.after[:size], c.after[size:]
}

// parseDate splits a date of git into seconds since 1970 and minutes east of UTC. It is ok only if
// formatDate returns the same date.
func parseDate(text string) (sec int64, zone int16, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, 0, false
	}
	_, east := t.Zone()
	sec, zone = t.Unix(), int16(east/60)
	back := formatDate(sec, zone)
	utc, zulu := strings.CutSuffix(back, "Z")
	return sec, zone, back == text || zulu && utc+"+00:00" == text
}

// formatDate returns a date in RFC 3339, with Z for UTC. Versions of git print Z or +00:00.
func formatDate(sec int64, zone int16) string {
	return time.Unix(sec, 0).In(time.FixedZone("", int(zone)*60)).Format(time.RFC3339)
}
