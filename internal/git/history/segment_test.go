package history

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"ken/internal/repo"
)

// testFilter is the filter of all tests.
var testFilter = repo.HistoryFilter{
	Trailers: []string{"Session", "Spec-OK", "Spec-OK-Basis"}, Marker: "Spec-OK", MoveDir: ".spec", MoveName: "spec.md",
}

// smallSegment returns a segment without empty sections.
func smallSegment(tb testing.TB) *segment {
	tb.Helper()
	id := func(n int) repo.ID {
		id, err := repo.ParseID(fmt.Sprintf("%040x", n*7919%1000+1))
		if err != nil {
			tb.Fatal(err)
		}
		return id
	}
	b := NewBuilder(&Index{}, repo.SHA1, testFilter)
	for n := 39; n >= 0; n-- {
		c := repo.Commit{ID: id(n), Date: "2026-01-02T03:04:05+01:00", Subject: fmt.Sprint("commit ", n)}
		for p := n - 1; p >= max(0, n-1-n%4); p-- {
			c.Parents = append(c.Parents, id(p))
		}
		if n%5 == 0 {
			c.Date = "never"
			c.Trailers = []repo.Trailer{{Key: "Spec-OK", Value: fmt.Sprint(n)}}
		}
		for k := range n % 3 {
			c.Changes = append(c.Changes, repo.Change{Path: repo.Path(fmt.Sprintf("dir%d/file%d", n%6, n+k)), Kind: repo.ChangeKind(n % 4)})
		}
		if err := b.Add(c); err != nil {
			tb.Fatal(err)
		}
	}
	if err := b.Number(); err != nil {
		tb.Fatal(err)
	}
	b.moves = []repo.Move{{Commit: 3, From: ".spec/a/spec.md", To: ".spec/b/spec.md", Same: true}, {Commit: 9, From: "x", To: "y"}}
	s, err := b.writeSegment().finish(Key{1}, segmentID{})
	if err != nil {
		tb.Fatal(err)
	}
	for i, sec := range s.section {
		if len(sec) == 0 {
			tb.Fatalf("section %d is empty", i)
		}
	}
	return s
}

// openSegment rejects a file with a changed, missing or additional byte.
func TestOpenSegmentRejectsDamage(t *testing.T) {
	data := smallSegment(t).data
	if _, err := openSegment(slices.Clone(data)); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for _, bit := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(data)
			bad[i] ^= bit
			if _, err := openSegment(bad); err == nil {
				t.Fatalf("openSegment accepted a file with byte %d changed by %#x", i, bit)
			}
		}
		if _, err := openSegment(data[:i]); err == nil {
			t.Fatalf("openSegment accepted a file that was cut off at byte %d", i)
		}
	}
	if _, err := openSegment(append(slices.Clone(data), 0)); err == nil {
		t.Error("openSegment accepted a file with an additional byte")
	}
}

// No lookup panics in a segment that openSegment accepts, even if its bytes are arbitrary and only
// the checksums are right.
func FuzzHistoryIndex(f *testing.F) {
	whole := smallSegment(f).data
	f.Add(whole)
	f.Add(whole[:headerSize])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, b := range [][]byte{data, withChecksums(data)} {
			s, err := openSegment(b)
			if err != nil {
				continue
			}
			callAllLookups(&Index{segments: []*segment{s}})
			if s.first > 0 {
				continue
			}
			key, id := s.key, s.id
			if both, err := openSegment(follower(t, s)); err == nil {
				if j, err := mergeSegments(s, both).finish(key, id); err == nil {
					callAllLookups(&Index{segments: []*segment{j}})
				}
			}
		}
	})
}

// withChecksums returns the bytes with right checksums.
func withChecksums(data []byte) []byte {
	b := slices.Clone(data)
	if len(b) < headerSize {
		return b
	}
	rest := b[headerSize:]
	table := b[headerSize-4-sections*12:]
	for i := range sections {
		size := binary.LittleEndian.Uint64(table[12*i:])
		size = min(size, uint64(len(rest)))
		if i == sections-1 {
			size = uint64(len(rest))
		}
		binary.LittleEndian.PutUint64(table[12*i:], size)
		binary.LittleEndian.PutUint32(table[12*i+8:], crc32.Checksum(rest[:size], crcTable()))
		rest = rest[size:]
	}
	binary.LittleEndian.PutUint32(b[headerSize-4:], crc32.Checksum(b[:headerSize-4], crcTable()))
	return b
}

// follower returns the content of a segment with one commit that follows s.
func follower(t *testing.T, s *segment) []byte {
	t.Helper()
	h := &Index{segments: []*segment{s}}
	format := repo.SHA1
	if s.size == repo.SHA256.Size() {
		format = repo.SHA256
	}
	b := NewBuilder(h, format, testFilter)
	id, err := repo.ParseID(strings.Repeat("9e", s.size))
	if err != nil {
		t.Fatal(err)
	}
	c := repo.Commit{ID: id, Changes: []repo.Change{{Path: "dir1/file1"}, {Path: "new"}}}
	if s.count > 0 && !h.id(0).IsZero() {
		c.Parents = []repo.ID{h.id(0)}
	}
	if err := b.Add(c); err != nil {
		t.Fatal(err)
	}
	if b.Number() != nil {
		return nil
	}
	d, err := b.writeSegment().finish(s.key, s.id)
	if err != nil {
		return nil
	}
	return d.data
}

func callAllLookups(h *Index) {
	for n := range h.Len() {
		if n += repo.CommitNumber(h.segments[0].first); n > 0 && int(n) < h.segments[0].first+h.segments[0].count {
			h.Commit(n)
			h.Find(h.id(n))
		}
	}
	h.Marked()
	h.Moves()
	h.Tips()
	for _, p := range h.Below("") {
		h.Touching(p)
	}
	h.Below("dir1")
	h.Touching("dir3/file9")
	h.Touching("zzz")
}
