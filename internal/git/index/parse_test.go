package index

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"ken/internal/repo"
)

func TestRacy(t *testing.T) {
	const second, ms = int64(1e9), int64(1e6)
	written := 1000*second + 500*ms + 1
	for _, c := range []struct {
		name           string
		mtime, written int64
		want           bool
	}{
		{"long before", written - second, written, false},
		{"one tick before", written - 9*ms, written, true},
		{"two ticks before", written - 21*ms, written, false},
		{"the same moment", written, written, true},
		{"later", written + second, written, true},
		{"the same second, whole seconds", 1000 * second, written, true},
		{"a second before, whole seconds", 999 * second, written, false},
		{"the same second, index in whole seconds", 1000*second + 7, 1000 * second, true},
	} {
		if got := IsRacy(c.mtime, c.written); got != c.want {
			t.Errorf("%s: IsRacy returned %v, want %v", c.name, got, c.want)
		}
	}
}

// resum replaces the checksum at the end of p by the right one.
func resum(p []byte) []byte {
	sum := sha1.Sum(p[:len(p)-20])
	copy(p[len(p)-20:], sum[:])
	return p
}

// build returns an index with count entries and paths like those of a large repository.
func build(version uint32, count int) []byte {
	var p []byte
	p = append(p, "DIRC"...)
	p = binary.BigEndian.AppendUint32(p, version)
	p = binary.BigEndian.AppendUint32(p, uint32(count))
	prev := ""
	for i := range count {
		path := fmt.Sprintf("staging/src/component%03d/internal/package%02d/file%06d_test.go", i/1000, i/100%10, i)
		start := len(p)
		for w := range 10 {
			v := uint32(1_700_000_000 + i + w)
			if w == 6 {
				v = uint32(repo.Regular)
			}
			p = binary.BigEndian.AppendUint32(p, v)
		}
		sum := sha1.Sum([]byte(path))
		p = append(p, sum[:]...)
		p = binary.BigEndian.AppendUint16(p, uint16(len(path)))
		if version == 4 {
			n := commonPrefix([]byte(prev), []byte(path))
			p = append(p, byte(len(prev)-n)) // below 128 here
			p = append(p, path[n:]...)
			p = append(p, 0)
			prev = path
			continue
		}
		p = append(p, path...)
		p = append(p, make([]byte, 8-(len(p)-start)%8)...)
	}
	p = append(p, make([]byte, 20)...)
	return resum(p)
}

func BenchmarkIndex100k(b *testing.B) {
	for _, version := range []uint32{2, 4} {
		buf := build(version, 100_000)
		b.Run(fmt.Sprintf("v%d/parse", version), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parse(buf, repo.SHA1, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("v%d/decode", version), func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse(buf, repo.SHA1, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The parser never panics. Paths of an index that it accepts are valid, sorted and unique.
func FuzzIndex(f *testing.F) {
	for _, v := range []uint32{2, 3, 4} {
		f.Add(build(v, 3), false)
	}
	f.Add(build(2, 0), true)
	f.Add([]byte("DIRC"), false)
	tree := build(2, 1)
	tree = append(tree[:len(tree)-20], "TREE\x00\x00\x00\x19\x001 0\n01234567890123456789"...)
	f.Add(append(tree, make([]byte, 20)...), false)
	f.Fuzz(func(t *testing.T, buf []byte, long bool) {
		format := repo.SHA1
		if long {
			format = repo.SHA256
		}
		idx, err := parse(buf, format, 0)
		if err != nil {
			if !errors.Is(err, ErrUnusual) && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("the error is neither ErrUnusual nor ErrCorrupt: %v", err)
			}
			return
		}
		for i, e := range idx.Entries {
			if !ValidPath([]byte(e.Path)) {
				t.Fatalf("the parser accepted the invalid path %q", e.Path)
			}
			if i > 0 && idx.Entries[i-1].Path >= e.Path {
				t.Fatalf("paths out of order: %q before %q", idx.Entries[i-1].Path, e.Path)
			}
			if e.Flags.Has(repo.Conflicted) != e.ID.IsZero() && e.Flags.Has(repo.Conflicted) {
				t.Fatalf("%q is conflicted and has an id", e.Path)
			}
		}
	})
}
