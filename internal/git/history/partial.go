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

// A Partial is an index with only the headers in memory. It reads a few more bytes per
// question, without verifying them. It shows early which commits are new, so that git can walk them
// while ken reads the whole index and checks the answers.
type Partial struct{ segments []partialSegment }

// A partialSegment is a file with only the header in memory.
type partialSegment struct {
	segment
	f      io.ReaderAt
	starts [sections]int64
	sizes  [sections]int64
}

// OpenPartial opens the base and, if given, the tail. The result is empty if the base is invalid or
// has another key.
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

// Empty reports whether no file was valid.
func (p Partial) Empty() bool { return len(p.segments) == 0 }

// readHeader reads the header of a segment.
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

// read returns a part of a section, nil if it cannot be read.
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

// idAt returns the id of the i-th commit, nil if it cannot be read.
func (s *partialSegment) idAt(i uint32) []byte {
	return s.read(secIDs, int64(i)*int64(s.size), int64(s.size))
}

// Has reports whether the index has a commit.
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

// Tips returns the same as [Index.Tips], nil if it cannot be read.
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
