// Package history is ken's index of the commits of a repository: their parents, dates, subjects
// and trailers, the paths they changed and the moves of some files.
//
// A [Builder] takes commits and adds them to an [Index]; the index answers questions and gives
// the bytes of its two files. The package reads no file and starts no process: package git walks
// the commits and keeps the files.
package history

import (
	"slices"
	"sync"

	"ken/internal/repo"
)

// An Index holds commits, the paths they changed and the moves of the files that its filter
// follows. Its zero value is empty. It may be read from several goroutines, but not while
// [Index.Append] or [Index.LoadParents] runs.
type Index struct {
	segments []*segment // one behind the other
	lines    repo.ParentTable
	lined    sync.Once // lines are those of all commits
}

// Open returns the index that two files hold for a key: the base, and the tail that follows it.
// Whatever is wrong with a file, it holds nothing.
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

// openAt opens a segment, nil if it is not the one that belongs there.
func openAt(data []byte, key Key, format repo.ObjectFormat, follows segmentID, first int) *segment {
	s, err := openSegment(data)
	if err != nil || s.key != key || s.follows != follows || s.first != first || s.size != format.Size() {
		return nil
	}
	return s
}

// Files returns the bytes of the base and of the tail, nil for one that there is not. They must
// not be written to.
func (h *Index) Files() (base, tail []byte) {
	if len(h.segments) > 0 {
		base = h.segments[0].data
	}
	if len(h.segments) > 1 {
		tail = h.segments[1].data
	}
	return base, tail
}

// Missing returns those of some commits that are not in the history.
func (h *Index) Missing(ids []repo.ID) []repo.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id repo.ID) bool {
		_, ok := h.Find(id)
		return ok
	})
}

// Tips returns the ids of the commits that no other one stands on.
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

// Append adds the commits of a builder, which are numbered. The tail is written anew for every commit, so that it
// goes into the base once it is no longer small beside it.
func (h *Index) Append(b *Builder, key Key) error {
	var follows segmentID
	if len(h.segments) > 0 {
		follows = h.segments[0].id
	}
	s, err := b.draft().seal(key, follows)
	if err != nil {
		return err
	}
	if len(h.segments) > 1 {
		if s, err = joined(h.segments[1], s).seal(key, follows); err != nil {
			return err
		}
		h.segments = h.segments[:1]
	}
	if len(h.segments) == 1 && len(s.data) > len(h.segments[0].data)/8+tailRoom {
		if s, err = joined(h.segments[0], s).seal(key, segmentID{}); err != nil {
			return err
		}
		h.segments = nil
	}
	h.segments = append(h.segments, s)
	return nil
}

// tailRoom is what a tail may take beside any base.
const tailRoom = 64 << 10
