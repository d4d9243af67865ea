package history

import (
	"bytes"
	"encoding/binary"
)

// joined returns a draft of two segments in one, b being the one that follows a.
// Numbers stay as they are.
func joined(a, b *segment) *draft {
	d := &draft{size: a.size, first: a.first, count: a.count + b.count}
	for _, sec := range []int{secIDs, secParents, secMarked, secMoves} {
		d.section[sec] = append(append(make([]byte, 0, len(a.section[sec])+len(b.section[sec])), a.section[sec]...), b.section[sec]...)
	}
	d.section[secTips] = b.section[secTips]
	d.joinCommits(a, b)
	d.joinOrder(a, b)
	d.joinText(a, b)
	d.joinPaths(a, b)
	return d
}

// joinCommits copies the records; those of b that have parents elsewhere find them
// behind those of a.
func (d *draft) joinCommits(a, b *segment) {
	sec := append(make([]byte, 0, d.count*recordSize), a.section[secCommits]...)
	start := len(sec)
	sec = append(sec, b.section[secCommits]...)
	shift := uint32(len(a.section[secParents]) / 4)
	for i := range b.count {
		if _, second := b.record(i); second != noParent && second&moreFlag != 0 {
			binary.LittleEndian.PutUint32(sec[start+i*recordSize+4:], second+shift)
		}
	}
	d.section[secCommits] = sec
}

func (d *draft) joinOrder(a, b *segment) {
	sec := make([]byte, 0, d.count*4)
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
	d.section[secByID] = sec
}

// joinText copies the texts. The starts of b's groups are found anew, since a's last
// group need not be full.
func (d *draft) joinText(a, b *segment) {
	size := len(a.section[secText]) + len(b.section[secText])
	d.section[secText] = append(make([]byte, 0, size), a.section[secText]...)
	d.section[secTextStart] = append(make([]byte, 0, (d.count/textGroup+1)*8), a.section[secTextStart]...)
	rest := reader(b.section[secText])
	for n := a.count; n < d.count; n++ {
		if n%textGroup == 0 {
			d.section[secTextStart] = binary.LittleEndian.AppendUint64(d.section[secTextStart], uint64(len(d.section[secText])))
		}
		d.section[secText] = appendText(d.section[secText], rest.text())
	}
}

// joinPaths merges the paths.
func (d *draft) joinPaths(a, b *segment) {
	d.paths.paths = make([]byte, 0, len(a.section[secPaths])+len(b.section[secPaths]))
	d.paths.touches = make([]byte, 0, len(a.section[secTouches])+len(b.section[secTouches]))
	x, y := a.block(0), b.block(0)
	var both []byte
	for x.ok || y.ok {
		order := bytes.Compare(x.name, y.name)
		switch {
		case !y.ok || x.ok && order < 0:
			d.paths.add(x.name, x.touches)
			x.next()
		case !x.ok || order > 0:
			d.paths.add(y.name, y.touches)
			y.next()
		default:
			both = joinTouches(both[:0], x.touches, y.touches)
			d.paths.add(x.name, both)
			x.next()
			y.next()
		}
	}
}

// joinTouches appends two lists of commits, the second of which goes on from the
// last commit of the first.
func joinTouches(list []byte, a, b reader) []byte {
	list = append(list, a...)
	last := uint64(0)
	for len(a) > 0 {
		last += a.uvarint() >> 2
	}
	v := b.uvarint()
	list = binary.AppendUvarint(list, (v>>2-last)<<2|v&3)
	return append(list, b...)
}
