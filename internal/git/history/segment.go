package history

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"ken/internal/repo"
)

// A segment is a run of numbered commits with what they touched: the bytes of a
// file, read in place. The base holds the commits from 0 on, the tail those that
// came after it. A number in a segment is that of the whole history.
//
//	header    magic, key, the base it follows, first number, count, and for each
//	          section its length and checksum; then a checksum of all that
//	sections  in the order below, one behind the other
//
// Numbers of fixed width are little endian, lengths in text are varints.
type segment struct {
	data    []byte
	key     Key
	follows segmentID // the base of a tail; zero for a base
	id      segmentID
	size    int // of an object id
	first   int
	count   int
	section [sections][]byte
}

// A Key names everything beside the commits that decides what an index holds. An index is
// only read with the key that it was written with.
type Key [sha256.Size]byte

// NewKey returns the key of some texts. It changes with the format of the files, too.
func NewKey(parts ...string) (k Key) {
	sum := sha256.New()
	for _, part := range append([]string{magic}, parts...) {
		fmt.Fprintf(sum, "%d\n%s", len(part), part)
	}
	sum.Sum(k[:0])
	return k
}

type segmentID [16]byte

// MaxSize is the largest size of a file of the index.
const MaxSize = 2 << 30

// The sections.
const (
	secIDs       = iota // object ids by number
	secByID             // places in the section before, by ascending id
	secCommits          // records of recordSize
	secParents          // parents from the second on, of those that have more than two
	secTextStart        // where the text of each textGroup-th commit starts
	secText             // for each commit its length, then date, subject and trailers
	secMarked           // numbers of the commits with acks
	secMoves            // moves of spec files
	secTips             // numbers of the commits that no other one stands on
	secBlocks           // where each block of paths, and what is told of it, starts
	secPaths            // paths in order, front-coded in blocks of pathBlock
	secTouches          // for each path its commits
	sections
)

const (
	// magic changes with the layout, and with what is kept.
	magic      = "kenhist\x02"
	headerSize = len(magic) + sha256.Size + 16 + 3*4 + sections*12 + 4

	recordSize = 18 // two parents, seconds, minutes east
	textGroup  = 16
	pathBlock  = 16
	blockSize  = 16

	noParent = math.MaxUint32
	moreFlag = 1 << 31       // of a second parent: a place in secParents; there: the last one
	oddZone  = math.MinInt16 // the date is in the text, as it was found
)

var (
	// Made when it is needed: every start would pay for it.
	crcTable   = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })
	errSegment = errors.New("not a history index")
)

// openSegment reads the bytes of a file. Those that are not whole, or make no sense,
// are an error; what it accepts can be asked anything.
func openSegment(data []byte) (*segment, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, errSegment
	}
	head, sum := data[:headerSize-4], binary.LittleEndian.Uint32(data[headerSize-4:])
	if crc32.Checksum(head, crcTable()) != sum {
		return nil, errSegment
	}
	s := &segment{data: data}
	rest := data[headerSize:]
	for i, sec := range s.readHeader(head) {
		if sec.size > uint64(len(rest)) {
			return nil, errSegment
		}
		s.section[i] = rest[:sec.size:sec.size]
		if crc32.Checksum(s.section[i], crcTable()) != sec.sum {
			return nil, errSegment
		}
		rest = rest[sec.size:]
	}
	if len(rest) > 0 || !s.sound() {
		return nil, errSegment
	}
	return s, nil
}

// A sectionHead is what the header says of a section.
type sectionHead struct {
	size uint64
	sum  uint32
}

// readHeader reads a header whose checksum is right, and returns what it says of the
// sections.
func (s *segment) readHeader(head []byte) (secs [sections]sectionHead) {
	s.id = segmentIDOf(head)
	head = head[len(magic):]
	head = head[copy(s.key[:], head):]
	head = head[copy(s.follows[:], head):]
	s.size = int(binary.LittleEndian.Uint32(head))
	s.first = int(binary.LittleEndian.Uint32(head[4:]))
	s.count = int(binary.LittleEndian.Uint32(head[8:]))
	head = head[12:]
	for i := range secs {
		secs[i] = sectionHead{binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint32(head[8:])}
		head = head[12:]
	}
	return secs
}

func segmentIDOf(head []byte) (id segmentID) {
	sum := sha256.Sum256(head)
	copy(id[:], sum[:])
	return id
}

// sound reports whether the tables fit each other, so that no number leads out of
// them. Text and paths are checked as they are read.
func (s *segment) sound() bool {
	total := s.first + s.count
	if s.size != repo.SHA1.Size() && s.size != repo.SHA256.Size() || total > math.MaxInt32 {
		return false
	}
	for sec, want := range map[int]int{
		secIDs: s.count * s.size, secByID: s.count * 4, secCommits: s.count * recordSize,
		secTextStart: (s.count + textGroup - 1) / textGroup * 8,
	} {
		if len(s.section[sec]) != want {
			return false
		}
	}
	if len(s.section[secBlocks])%blockSize != 0 || len(s.section[secParents])%4 != 0 ||
		!ascending(s.section[secMarked], s.first, total) || !ascending(s.section[secTips], 0, total) {
		return false
	}
	for i := range s.count {
		if s.u32(secByID, i) >= uint32(s.count) || !s.soundParents(i) {
			return false
		}
	}
	return true
}

// soundParents reports whether the parents of the i-th commit are numbered lower.
func (s *segment) soundParents(i int) bool {
	own := uint32(s.first + i)
	first, second := s.record(i)
	switch {
	case first == noParent:
		return second == noParent
	case first >= own:
		return false
	case second == noParent:
		return true
	case second&moreFlag == 0:
		return second < own
	}
	for at := int(second &^ moreFlag); at < len(s.section[secParents])/4; at++ {
		n := s.u32(secParents, at)
		if n&^moreFlag >= own {
			return false
		}
		if n&moreFlag != 0 {
			return true
		}
	}
	return false
}

// ascending reports whether a section lists numbers from first up to below end.
func ascending(sec []byte, first, end int) bool {
	if len(sec)%4 != 0 {
		return false
	}
	next := uint32(first)
	for ; len(sec) > 0; sec = sec[4:] {
		n := binary.LittleEndian.Uint32(sec)
		if n < next || n >= uint32(end) {
			return false
		}
		next = n + 1
	}
	return true
}

// u32 returns the i-th number of a section that is made of such.
func (s *segment) u32(sec, i int) uint32 { return binary.LittleEndian.Uint32(s.section[sec][4*i:]) }

// record returns the first two parents of the i-th commit.
func (s *segment) record(i int) (first, second uint32) {
	b := s.section[secCommits][i*recordSize:]
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
}

// A draft is a segment while its sections are written.
type draft struct {
	size    int
	first   int
	count   int
	section [sections][]byte
	paths   pathWriter
}

// add appends a number to a section that is made of such.
func (d *draft) add(sec int, n uint32) {
	d.section[sec] = binary.LittleEndian.AppendUint32(d.section[sec], n)
}

// seal returns the finished segment.
func (d *draft) seal(key Key, follows segmentID) (*segment, error) {
	d.section[secBlocks], d.section[secPaths], d.section[secTouches] = d.paths.blocks, d.paths.paths, d.paths.touches
	total := headerSize
	for _, sec := range d.section {
		total += len(sec)
	}
	data := make([]byte, 0, total)
	data = append(data, magic...)
	data = append(data, key[:]...)
	data = append(data, follows[:]...)
	for _, n := range []int{d.size, d.first, d.count} {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	for _, sec := range d.section {
		data = binary.LittleEndian.AppendUint64(data, uint64(len(sec)))
		data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(sec, crcTable()))
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crcTable()))
	for i, sec := range d.section {
		data = append(data, sec...)
		d.section[i] = nil
	}
	return openSegment(data)
}

// A pathWriter writes the paths of a segment, which are given in order.
type pathWriter struct {
	blocks, paths, touches []byte
	count                  int
	last                   []byte
}

// add appends a path and what is told of it.
func (w *pathWriter) add(path, touches []byte) {
	shared := 0
	if w.count%pathBlock == 0 {
		w.blocks = binary.LittleEndian.AppendUint64(w.blocks, uint64(len(w.paths)))
		w.blocks = binary.LittleEndian.AppendUint64(w.blocks, uint64(len(w.touches)))
	} else {
		for shared < len(path) && shared < len(w.last) && path[shared] == w.last[shared] {
			shared++
		}
	}
	w.count++
	w.paths = binary.AppendUvarint(w.paths, uint64(shared))
	w.paths = appendText(w.paths, path[shared:])
	w.paths = binary.AppendUvarint(w.paths, uint64(len(touches)))
	w.touches = append(w.touches, touches...)
	w.last = append(w.last[:0], path...)
}

// appendText appends a text and before it its length.
func appendText[T string | []byte](b []byte, text T) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// A reader takes numbers and texts from bytes. Once something is not there, it is
// spent and gives zeros.
type reader []byte

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(*r)
	if size <= 0 {
		*r = nil
		return 0
	}
	*r = (*r)[size:]
	return n
}

func (r *reader) text() []byte {
	size := r.uvarint()
	if size > uint64(len(*r)) {
		*r = nil
		return nil
	}
	text := (*r)[:size]
	*r = (*r)[size:]
	return text
}
