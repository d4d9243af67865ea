// Package history is ken's index of the commits of a repository: their parents, dates, subjects
// and trailers, the paths that they changed and the moves of some files.
//
// A [Builder] collects commits, and [Index.Append] adds them to an [Index]. The package reads and
// writes no files and starts no process. Package git walks the commits and stores the index.
package history

import (
	"slices"
	"sync"

	"ken/internal/repo"
)

// An Index holds commits, the paths they changed and the moves of the files that its filter
// follows. Its zero value is empty. It may be read from several goroutines, but not while
// [Index.Append] runs.
type Index struct {
	segments    []*segment // the base and the tail
	parents     repo.ParentTable
	parentsOnce sync.Once // parents has all commits
}

// Open returns the index that is stored in two files, the base and the tail. It ignores a file
// that is invalid or has another key, and a tail of another base.
func Open(key Key, format repo.ObjectFormat, base, tail []byte) *Index {
	h := &Index{}
	first := openAt(base, key, format, segmentID{}, 0)
	if first == nil {
		return h
	}
	h.segments = append(h.segments, first)
	if second := openAt(tail, key, format, first.id, first.count); second != nil {
		h.segments = append(h.segments, second)
	}
	return h
}

// openAt opens a segment that follows another and starts at a number. It returns nil if the data is
// invalid or another segment.
func openAt(data []byte, key Key, format repo.ObjectFormat, follows segmentID, first int) *segment {
	s, err := openSegment(data)
	if err != nil || s.key != key || s.follows != follows || s.first != first || s.size != format.Size() {
		return nil
	}
	return s
}

// Files returns the content of the base file and of the tail file, nil for a file that the index
// does not have. The caller must not change them.
func (h *Index) Files() (base, tail []byte) {
	if len(h.segments) > 0 {
		base = h.segments[0].data
	}
	if len(h.segments) > 1 {
		tail = h.segments[1].data
	}
	return base, tail
}

// Missing returns the commits that the index does not have.
func (h *Index) Missing(ids []repo.ID) []repo.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id repo.ID) bool {
		_, ok := h.Find(id)
		return ok
	})
}

// Tips returns the ids of the commits without children.
func (h *Index) Tips() []repo.ID {
	if len(h.segments) == 0 {
		return nil
	}
	last := h.segments[len(h.segments)-1]
	var ids []repo.ID
	for i := range len(last.section[secTips]) / 4 {
		ids = append(ids, h.id(repo.CommitNumber(last.u32(secTips, i))))
	}
	return ids
}

// Append adds the commits of a builder, after [Builder.Number]. Every new commit makes a new tail.
// When the tail is no longer small compared with the base, Append merges the two.
func (h *Index) Append(b *Builder, key Key) error {
	var follows segmentID
	if len(h.segments) > 0 {
		follows = h.segments[0].id
	}
	s, err := b.writeSegment().finish(key, follows)
	if err != nil {
		return err
	}
	if len(h.segments) > 1 {
		if s, err = mergeSegments(h.segments[1], s).finish(key, follows); err != nil {
			return err
		}
		h.segments = h.segments[:1]
	}
	if len(h.segments) == 1 && len(s.data) > len(h.segments[0].data)/8+tailRoom {
		if s, err = mergeSegments(h.segments[0], s).finish(key, segmentID{}); err != nil {
			return err
		}
		h.segments = nil
	}
	h.segments = append(h.segments, s)
	return nil
}

// tailRoom is the size in bytes that a tail may always have.
const tailRoom = 64 << 10
