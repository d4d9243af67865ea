package history

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sort"

	"ken/internal/repo"
)

// A Partial is a look into the files of the index that reads next to nothing: enough
// to see what is new, so that git can walk that while the index is read. What it
// says is checked when the whole is there.
type Partial struct{ segments []partialSegment }

// A partialSegment is a file of which the head was read.
type partialSegment struct {
	segment
	f      io.ReaderAt
	starts [sections]int64
	sizes  [sections]int64
}

// OpenPartial opens the base, and the tail if there is one, for a key. The result is empty if
// the base is for another key, or odd.
func OpenPartial(key Key, format repo.ObjectFormat, files ...io.ReaderAt) (p Partial) {
	var follows segmentID
	first := 0
	for _, f := range files {
		s := partialSegment{f: f}
		head := make([]byte, headerSize)
		if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(headerSize)), head); err != nil || !s.readHeader(head) {
			break
		}
		if s.key != key || s.follows != follows || s.first != first || s.size != format.Size() {
			break
		}
		p.segments = append(p.segments, s)
		follows, first = s.id, s.count
	}
	return p
}

// Empty reports whether nothing could be read.
func (p Partial) Empty() bool { return len(p.segments) == 0 }

// readHeader reads the head of a segment.
func (s *partialSegment) readHeader(head []byte) bool {
	if string(head[:len(magic)]) != magic ||
		crc32.Checksum(head[:headerSize-4], crcTable()) != binary.LittleEndian.Uint32(head[headerSize-4:]) {
		return false
	}
	at := int64(headerSize)
	for i, sec := range s.segment.readHeader(head[:headerSize-4]) {
		if sec.size > MaxSize {
			return false
		}
		s.starts[i], s.sizes[i] = at, int64(sec.size)
		at += int64(sec.size)
	}
	return true
}

// read reads a part of a section, nil when it is not there.
func (s *partialSegment) read(sec int, from, size int64) []byte {
	b := make([]byte, size)
	if from < 0 || from+size > s.sizes[sec] {
		return nil
	}
	if _, err := s.f.ReadAt(b, s.starts[sec]+from); err != nil {
		return nil
	}
	return b
}

// id returns the id of the i-th commit, nil when that cannot be read.
func (s *partialSegment) idAt(i uint32) []byte {
	return s.read(secIDs, int64(i)*int64(s.size), int64(s.size))
}

// Has reports whether a commit is there.
func (p Partial) Has(id repo.ID) bool {
	return slices.ContainsFunc(p.segments, func(s partialSegment) bool {
		_, ok := sort.Find(s.count, func(k int) int {
			at := s.read(secByID, int64(k)*4, 4)
			if at == nil {
				return -1
			}
			return bytes.Compare(id.Bytes(), s.idAt(binary.LittleEndian.Uint32(at)))
		})
		return ok
	})
}

// Tips returns what [Index.Tips] returns, nil when that cannot be read.
func (p Partial) Tips() []repo.ID {
	last := p.segments[len(p.segments)-1]
	list := last.read(secTips, 0, last.sizes[secTips])
	var ids []repo.ID
	for ; len(list) >= 4; list = list[4:] {
		n := int(binary.LittleEndian.Uint32(list))
		for _, s := range p.segments {
			if n >= s.first && n < s.first+s.count {
				ids = append(ids, repo.IDFromBytes(s.idAt(uint32(n-s.first))))
			}
		}
	}
	return ids
}
