package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"ken/internal/repo"
)

// A glimpse is a look into the files of the index that reads next to nothing: enough
// to see what is new, so that git can walk that while the index is read. What it
// says is checked when the whole is there.
type glimpse struct{ segments []glimpsed }

// A glimpsed is a file of which the head was read.
type glimpsed struct {
	segment
	f      *os.File
	starts [sections]int64
	sizes  [sections]int64
}

// glimpse opens what the cache holds for a key; it is empty if that is nothing, or
// odd.
func (r *Repo) glimpse(key historyKey) (g glimpse) {
	var follows segmentID
	first := 0
	for _, name := range []string{baseFile, tailFile} {
		s, ok := openGlimpse(filepath.Join(r.historyDir(), name))
		if !ok {
			break
		}
		if s.key != key || s.follows != follows || s.first != first || s.size != r.format.Size() {
			_ = s.f.Close() // it was only read
			break
		}
		g.segments = append(g.segments, s)
		follows, first = s.id, s.count
	}
	return g
}

func openGlimpse(name string) (s glimpsed, ok bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return s, false
	}
	s.f = f
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(f, head); err != nil || !s.readHeader(head) {
		_ = f.Close() // it was only read
		return s, false
	}
	return s, true
}

// readHeader reads the head of a segment.
func (s *glimpsed) readHeader(head []byte) bool {
	if string(head[:len(historyMagic)]) != historyMagic ||
		crc32.Checksum(head[:headerSize-4], crcTable()) != binary.LittleEndian.Uint32(head[headerSize-4:]) {
		return false
	}
	at := int64(headerSize)
	for i, sec := range s.segment.readHeader(head[:headerSize-4]) {
		if sec.size > maxHistory {
			return false
		}
		s.starts[i], s.sizes[i] = at, int64(sec.size)
		at += int64(sec.size)
	}
	return true
}

func (g glimpse) close() {
	for _, s := range g.segments {
		_ = s.f.Close() // it was only read
	}
}

// read reads a part of a section, nil when it is not there.
func (s *glimpsed) read(sec int, from, size int64) []byte {
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
func (s *glimpsed) idAt(i uint32) []byte {
	return s.read(secIDs, int64(i)*int64(s.size), int64(s.size))
}

// has reports whether a commit is there.
func (g glimpse) has(id repo.ID) bool {
	return slices.ContainsFunc(g.segments, func(s glimpsed) bool {
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

// tips returns what History.tips returns, nil when that cannot be read.
func (g glimpse) tips() []repo.ID {
	last := g.segments[len(g.segments)-1]
	list := last.read(secTips, 0, last.sizes[secTips])
	var ids []repo.ID
	for ; len(list) >= 4; list = list[4:] {
		n := int(binary.LittleEndian.Uint32(list))
		for _, s := range g.segments {
			if n >= s.first && n < s.first+s.count {
				ids = append(ids, repo.IDFromBytes(s.idAt(uint32(n-s.first))))
			}
		}
	}
	return ids
}

// An earlyWalk is a walk that has begun before it is known who takes its commits.
type earlyWalk struct {
	heads, known []repo.ID
	taker        chan func(repo.Commit) error
	done         chan error
	stop         context.CancelFunc
}

// walkEarly begins to walk what a glimpse does not show, nil if that is nothing, or
// everything.
func (r *Repo) walkEarly(ctx context.Context, key historyKey, heads []repo.ID) *earlyWalk {
	g := r.glimpse(key)
	defer g.close()
	if len(g.segments) == 0 {
		return nil
	}
	w := &earlyWalk{
		heads: slices.DeleteFunc(slices.Clone(heads), g.has),
		taker: make(chan func(repo.Commit) error, 1), done: make(chan error, 1),
	}
	if w.known = knownOf(g.tips()); len(w.heads) == 0 || len(w.known) == 0 {
		return nil
	}
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		var take func(repo.Commit) error
		w.done <- r.Walk(ctx, w.heads, w.known, r.historyTrailers(), func(c repo.Commit) error {
			if take == nil {
				select {
				case take = <-w.taker:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return take(c)
		})
	}()
	return w
}

// fits reports whether it is this walk that is needed.
func (w *earlyWalk) fits(heads, known []repo.ID) bool {
	return w != nil && slices.Equal(w.heads, heads) && slices.Equal(w.known, known)
}

// take ends the walk, with f taking its commits.
func (w *earlyWalk) take(f func(repo.Commit) error) error {
	defer w.stop()
	w.taker <- f
	return <-w.done
}

// drop ends a walk that nobody needs.
func (w *earlyWalk) drop() {
	if w != nil {
		w.stop()
		<-w.done
	}
}
