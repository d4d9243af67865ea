package history

import (
	"bytes"
	"encoding/binary"
)

// mergeSegments writes two segments as one. Segment b follows a. The numbers of commits do not change.
func mergeSegments(a, b *segment) *segmentWriter {
	w := &segmentWriter{size: a.size, first: a.first, count: a.count + b.count}
	for _, sec := range []int{secIDs, secParents, secMarked, secMoves} {
		w.section[sec] = append(append(make([]byte, 0, len(a.section[sec])+len(b.section[sec])), a.section[sec]...), b.section[sec]...)
	}
	w.section[secTips] = b.section[secTips]
	w.mergeCommits(a, b)
	w.mergeByID(a, b)
	w.mergeText(a, b)
	w.mergePaths(a, b)
	return w
}

// mergeCommits copies the records of the commits, and shifts the positions in secParents that the
// records of b have.
func (w *segmentWriter) mergeCommits(a, b *segment) {
	sec := append(make([]byte, 0, w.count*recordSize), a.section[secCommits]...)
	start := len(sec)
	sec = append(sec, b.section[secCommits]...)
	shift := uint32(len(a.section[secParents]) / 4)
	for i := range b.count {
		if _, second := b.record(i); second != noParent && second&listFlag != 0 {
			binary.LittleEndian.PutUint32(sec[start+i*recordSize+4:], second+shift)
		}
	}
	w.section[secCommits] = sec
}

func (w *segmentWriter) mergeByID(a, b *segment) {
	sec := make([]byte, 0, w.count*4)
	i, k := 0, 0
	for i < a.count || k < b.count {
		var n uint32
		if k == b.count || i < a.count && bytes.Compare(a.idBytes(int(a.u32(secByID, i))), b.idBytes(int(b.u32(secByID, k)))) < 0 {
			n = a.u32(secByID, i)
			i++
		} else {
			n = uint32(a.count) + b.u32(secByID, k)
			k++
		}
		sec = binary.LittleEndian.AppendUint32(sec, n)
	}
	w.section[secByID] = sec
}

// mergeText copies the texts. It computes the offsets for b again, since the last group of a may be
// incomplete.
func (w *segmentWriter) mergeText(a, b *segment) {
	size := len(a.section[secText]) + len(b.section[secText])
	w.section[secText] = append(make([]byte, 0, size), a.section[secText]...)
	w.section[secTextStarts] = append(make([]byte, 0, (w.count/commitsPerTextStart+1)*8), a.section[secTextStarts]...)
	rest := reader(b.section[secText])
	for n := a.count; n < w.count; n++ {
		if n%commitsPerTextStart == 0 {
			w.section[secTextStarts] = binary.LittleEndian.AppendUint64(w.section[secTextStarts], uint64(len(w.section[secText])))
		}
		w.section[secText] = appendText(w.section[secText], rest.text())
	}
}

// mergePaths merges the sorted paths and their commits.
func (w *segmentWriter) mergePaths(a, b *segment) {
	w.paths.paths = make([]byte, 0, len(a.section[secPaths])+len(b.section[secPaths]))
	w.paths.touches = make([]byte, 0, len(a.section[secTouches])+len(b.section[secTouches]))
	x, y := a.block(0), b.block(0)
	var both []byte
	for x.ok || y.ok {
		order := bytes.Compare(x.name, y.name)
		switch {
		case !y.ok || x.ok && order < 0:
			w.paths.add(x.name, x.touches)
			x.next()
		case !x.ok || order > 0:
			w.paths.add(y.name, y.touches)
			y.next()
		default:
			both = mergeTouches(both[:0], x.touches, y.touches)
			w.paths.add(x.name, both)
			x.next()
			y.next()
		}
	}
}

// mergeTouches appends two lists of commits. The first difference in b becomes the difference to the
// last commit of a.
func mergeTouches(list []byte, a, b reader) []byte {
	list = append(list, a...)
	last := uint64(0)
	for len(a) > 0 {
		last += a.uvarint() >> 2
	}
	v := b.uvarint()
	list = binary.AppendUvarint(list, (v>>2-last)<<2|v&3)
	return append(list, b...)
}
