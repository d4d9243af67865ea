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

// A segment holds consecutive commits and the paths that they changed. It is the content of a file,
// and lookups read it in place. The base has the commits from number 0 on, the tail has the commits
// after those. Numbers of commits are numbers in the whole history.
//
//	header    magic, key, id of the base that a tail follows, first number, count; the length
//	          and checksum of each section; a checksum of the header
//	sections  in the order below
//
// Integers of fixed size are little endian. Lengths of texts are varints.
type segment struct {
	data    []byte
	key     Key
	follows segmentID // a tail: the id of its base; a base: zero
	id      segmentID
	size    int // size of an object id in bytes
	first   int // number of the first commit
	count   int // how many commits
	section [sections][]byte
}

// A Key is a digest of the inputs of an index other than the commits, such as the filter. A stored
// index is valid only for the key that it was made with.
type Key [sha256.Size]byte

// NewKey returns the digest of the texts and of the version of the file format.
func NewKey(parts ...string) (k Key) {
	sum := sha256.New()
	for _, part := range append([]string{magic}, parts...) {
		fmt.Fprintf(sum, "%d\n%s", len(part), part)
	}
	sum.Sum(k[:0])
	return k
}

type segmentID [16]byte

// MaxSize is the largest size of an index file in bytes.
const MaxSize = 2 << 30

// The sections.
const (
	secIDs        = iota // object ids by number
	secByID              // positions in secIDs, sorted by id
	secCommits           // records of recordSize
	secParents           // for commits with more than two parents: all but the first
	secTextStarts        // offset in secText of every commitsPerTextStart-th commit
	secText              // for each commit: length, date, subject, trailers
	secMarked            // numbers of the commits with the filter's marker
	secMoves             // moves of files that the filter follows
	secTips              // numbers of the commits without children
	secBlocks            // for each block of paths: offsets in secPaths and secTouches
	secPaths             // sorted paths, front-coded in blocks of pathsPerBlock
	secTouches           // for each path: the commits that changed it
	sections
)

const (
	// magic is the version of the format.
	magic      = "kenhist\x02"
	headerSize = len(magic) + sha256.Size + 16 + 3*4 + sections*12 + 4

	recordSize          = 18 // two parents, seconds, minutes east of UTC
	commitsPerTextStart = 16
	pathsPerBlock       = 16
	blockSize           = 16

	noParent   = math.MaxUint32
	listFlag   = 1 << 31       // in a second parent: this is a position in secParents; in secParents: this is the last parent
	zoneInText = math.MinInt16 // secText has the date as git printed it
)

var (
	// crcTable is made on first use, to keep the start of the program fast.
	crcTable   = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })
	errInvalid = errors.New("not a history index")
)

// openSegment opens the content of a file. It verifies checksums and numbers, so that no lookup in
// an accepted segment panics.
func openSegment(data []byte) (*segment, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, errInvalid
	}
	head, sum := data[:headerSize-4], binary.LittleEndian.Uint32(data[headerSize-4:])
	if crc32.Checksum(head, crcTable()) != sum {
		return nil, errInvalid
	}
	s := &segment{data: data}
	rest := data[headerSize:]
	for i, sec := range s.readHeader(head) {
		if sec.size > uint64(len(rest)) {
			return nil, errInvalid
		}
		s.section[i] = rest[:sec.size:sec.size]
		if crc32.Checksum(s.section[i], crcTable()) != sec.sum {
			return nil, errInvalid
		}
		rest = rest[sec.size:]
	}
	if len(rest) > 0 || !s.valid() {
		return nil, errInvalid
	}
	return s, nil
}

// A sectionHead is the entry of a section in the header.
type sectionHead struct {
	size uint64
	sum  uint32
}

// readHeader reads a header with a valid checksum, and returns its entries for the sections.
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

// valid reports whether the sections have the right sizes and all numbers in them are in range.
// Texts and paths are checked by the lookups.
func (s *segment) valid() bool {
	total := s.first + s.count
	if s.size != repo.SHA1.Size() && s.size != repo.SHA256.Size() || total > math.MaxInt32 {
		return false
	}
	for sec, want := range map[int]int{
		secIDs: s.count * s.size, secByID: s.count * 4, secCommits: s.count * recordSize,
		secTextStarts: (s.count + commitsPerTextStart - 1) / commitsPerTextStart * 8,
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
		if s.u32(secByID, i) >= uint32(s.count) || !s.validParents(i) {
			return false
		}
	}
	return true
}

// validParents reports whether all parents of the i-th commit have lower numbers.
func (s *segment) validParents(i int) bool {
	own := uint32(s.first + i)
	first, second := s.record(i)
	switch {
	case first == noParent:
		return second == noParent
	case first >= own:
		return false
	case second == noParent:
		return true
	case second&listFlag == 0:
		return second < own
	}
	for at := int(second &^ listFlag); at < len(s.section[secParents])/4; at++ {
		n := s.u32(secParents, at)
		if n&^listFlag >= own {
			return false
		}
		if n&listFlag != 0 {
			return true
		}
	}
	return false
}

// ascending reports whether a section is a sorted list of numbers in [first, end).
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

// u32 returns the i-th number of a section of 32-bit numbers.
func (s *segment) u32(sec, i int) uint32 { return binary.LittleEndian.Uint32(s.section[sec][4*i:]) }

// record returns the first two parents of the i-th commit.
func (s *segment) record(i int) (first, second uint32) {
	b := s.section[secCommits][i*recordSize:]
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
}

// A segmentWriter collects the sections of a new segment.
type segmentWriter struct {
	size    int
	first   int
	count   int
	section [sections][]byte
	paths   pathWriter
}

// add appends a number to a section of 32-bit numbers.
func (w *segmentWriter) add(sec int, n uint32) {
	w.section[sec] = binary.LittleEndian.AppendUint32(w.section[sec], n)
}

// finish returns the segment.
func (w *segmentWriter) finish(key Key, follows segmentID) (*segment, error) {
	w.section[secBlocks], w.section[secPaths], w.section[secTouches] = w.paths.blocks, w.paths.paths, w.paths.touches
	total := headerSize
	for _, sec := range w.section {
		total += len(sec)
	}
	data := make([]byte, 0, total)
	data = append(data, magic...)
	data = append(data, key[:]...)
	data = append(data, follows[:]...)
	for _, n := range []int{w.size, w.first, w.count} {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	for _, sec := range w.section {
		data = binary.LittleEndian.AppendUint64(data, uint64(len(sec)))
		data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(sec, crcTable()))
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crcTable()))
	for i, sec := range w.section {
		data = append(data, sec...)
		w.section[i] = nil
	}
	return openSegment(data)
}

// A pathWriter writes the paths of a segment. The caller adds them in order.
type pathWriter struct {
	blocks, paths, touches []byte
	count                  int
	last                   []byte
}

// add appends a path and its list of commits.
func (w *pathWriter) add(path, touches []byte) {
	shared := 0
	if w.count%pathsPerBlock == 0 {
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

// appendText appends the length of a text and the text.
func appendText[T string | []byte](b []byte, text T) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// A reader reads numbers and texts from bytes. After the end, or after an invalid length, it is empty
// and returns zeros.
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
