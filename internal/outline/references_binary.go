package outline

import (
	"errors"
	"slices"
)

// The binary form of references has a quarter of the size of their JSON. It is a list of numbers and
// strings: the fields of the file, the imports, the uses. A repeated string is the number of the earlier
// one, from 1. A new string is 0, its length and its bytes. A line number is the difference from the
// previous one.

// The first byte of a use has its kind, a bit for a member, a bit for more lines than are listed, and the
// number of listed lines.
const (
	useKindBits  = 0x07
	useMemberBit = 1 << 3
	useMoreBit   = 1 << 4
	useLineShift = 5
)

// AppendBinary appends the binary form of references. The error is always nil.
func (r *References) AppendBinary(out []byte) ([]byte, error) {
	w := binaryWriter{out: slices.Grow(out, 64+24*len(r.Imports)+20*len(r.Uses)), known: make(map[string]int, len(r.Uses))}
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
	w.uses(r.Uses)
	w.uses(r.Own)
	return w.out, nil
}

func (w *binaryWriter) uses(list []Use) {
	w.count(len(list))
	line := 0
	for i := range list {
		u := &list[i]
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
}

var errReferences = errors.New("not the binary form of references")

// UnmarshalBinary decodes references from their binary form.
func (r *References) UnmarshalBinary(b []byte) error {
	in := binaryReader{rest: b}
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
	r.Uses = in.uses()
	r.Own = in.uses()
	if in.bad || len(in.rest) > 0 {
		*r = References{}
		return errReferences
	}
	return nil
}

func (in *binaryReader) uses() []Use {
	n := in.length()
	if n == 0 {
		return nil
	}
	list := make([]Use, 0, n)
	lines := make([]int, 0, 2*n) // of all uses
	line := 0
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
		list = append(list, u)
	}
	return list
}
