package outline

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The binary form of references is a quarter of their JSON. It is a list of numbers and
// strings: what is said of a file as a whole, the imports, the uses. A string is the
// number of an earlier one, from 1, or 0 with its length and bytes. The line of an
// import or use is the distance from that of the one before.

// The first byte of a use: its kind, a bit for a member, a bit for more lines than are
// listed, and how many are.
const (
	useKindBits  = 0x07
	useMemberBit = 1 << 3
	useMoreBit   = 1 << 4
	useLineShift = 5
)

// AppendBinary appends the binary form of references. The error is always nil.
func (r *References) AppendBinary(out []byte) ([]byte, error) {
	w := refWriter{out: slices.Grow(out, 64+24*len(r.Imports)+20*len(r.Uses)), known: make(map[string]int, len(r.Uses))}
	w.text(r.Partial)
	w.count(r.More)
	w.count(len(r.Imports))
	line := 0
	for _, im := range r.Imports {
		w.text(im.Module)
		w.distance(im.Line - line)
		line = im.Line
		head := len(im.Names) << 1
		if im.Reexport {
			head |= 1
		}
		w.count(head)
		for _, b := range im.Names {
			w.text(b.Name)
			w.text(b.As)
		}
	}
	w.count(len(r.Uses))
	line = 0
	for i := range r.Uses {
		u := &r.Uses[i]
		lines := u.Lines[:min(len(u.Lines), MaxUseLines)]
		head := byte(max(0, slices.Index(useKinds[:], u.Kind))) | byte(len(lines)<<useLineShift)
		if u.Member {
			head |= useMemberBit
		}
		if u.More > 0 {
			head |= useMoreBit
		}
		w.out = append(w.out, head)
		w.text(u.Qualifier)
		w.text(u.Name)
		before := line
		for k, at := range lines {
			w.distance(at - before)
			if before = at; k == 0 {
				line = at
			}
		}
		if u.More > 0 {
			w.count(u.More)
		}
	}
	return w.out, nil
}

type refWriter struct {
	out   []byte
	known map[string]int
}

func (w *refWriter) count(n int)    { w.out = binary.AppendUvarint(w.out, uint64(n)) }
func (w *refWriter) distance(n int) { w.out = binary.AppendVarint(w.out, int64(n)) }

func (w *refWriter) text(s string) {
	if n, ok := w.known[s]; ok {
		w.count(n)
		return
	}
	w.known[s] = len(w.known) + 1
	w.count(0)
	w.count(len(s))
	w.out = append(w.out, s...)
}

var errReferences = errors.New("not the binary form of references")

// UnmarshalBinary reads references from their binary form.
func (r *References) UnmarshalBinary(b []byte) error {
	in := refReader{rest: b}
	*r = References{Partial: in.text(), More: in.count()}
	line := 0
	for range in.length() {
		im := Import{Module: in.text(), Line: line + in.distance()}
		line = im.Line
		head := in.count()
		im.Reexport = head&1 != 0
		for range in.within(head >> 1) {
			im.Names = append(im.Names, Binding{Name: in.text(), As: in.text()})
		}
		r.Imports = append(r.Imports, im)
	}
	n := in.length()
	if n > 0 {
		r.Uses = make([]Use, 0, n)
	}
	lines := make([]int, 0, 2*n) // of all uses
	line = 0
	for range n {
		head := in.take()
		u := Use{Member: head&useMemberBit != 0, Qualifier: in.text(), Name: in.text()}
		if kind := int(head & useKindBits); kind < len(useKinds) {
			u.Kind = useKinds[kind]
		} else {
			in.bad = true
		}
		from, at := len(lines), line
		for k := range int(head >> useLineShift) {
			if at += in.distance(); k == 0 {
				line = at
			}
			lines = append(lines, at)
		}
		u.Lines = lines[from:len(lines):len(lines)]
		if head&useMoreBit != 0 {
			u.More = in.count()
		}
		r.Uses = append(r.Uses, u)
	}
	if in.bad || len(in.rest) > 0 {
		*r = References{}
		return errReferences
	}
	return nil
}

// A refReader reads the parts of the binary form. What is not there is zero, and bad.
type refReader struct {
	rest  []byte
	known []string
	bad   bool
}

func (in *refReader) take() byte {
	if len(in.rest) == 0 {
		in.bad = true
		return 0
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b
}

func (in *refReader) count() int {
	n, size := binary.Uvarint(in.rest)
	if size <= 0 || n > 1<<31 {
		in.bad, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[size:]
	return int(n)
}

func (in *refReader) distance() int {
	n, size := binary.Varint(in.rest)
	if size <= 0 || n > 1<<31 || n < -1<<31 {
		in.bad, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[size:]
	return int(n)
}

// length is the number of elements of a list, each of which has a byte at least.
func (in *refReader) length() int { return in.within(in.count()) }

func (in *refReader) within(n int) int {
	if n > len(in.rest) {
		in.bad, in.rest = true, nil
		return 0
	}
	return n
}

func (in *refReader) text() string {
	if n := in.count(); n > 0 {
		if n > len(in.known) {
			in.bad, in.rest = true, nil
			return ""
		}
		return in.known[n-1]
	}
	n := in.length()
	s := string(in.rest[:n])
	in.rest = in.rest[n:]
	in.known = append(in.known, s)
	return s
}
