package outline

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"

	"ken/internal/fresh"
)

// The binary form of an outline has a fifth of the size of its JSON and decodes ten times as fast. It has
// three parts: the length of the second one; numbers and strings, compressed; and the digests, which do not
// compress. A nil outline has length 0.

// The flags of a symbol.
const (
	symbolExported = 1 << iota
	symbolQualified
	symbolDoc
	symbolTokens
)

// AppendBinary appends the binary form of an outline, which may be nil. The error is always nil.
func (o *Outline) AppendBinary(out []byte) ([]byte, error) {
	if o == nil {
		return append(out, 0), nil
	}
	w := binaryWriter{out: make([]byte, 0, 256+100*len(o.Symbols)), known: make(map[string]int, len(o.Symbols))}
	sums := make([]byte, 0, 3*len(fresh.Digest{})+3*len(o.Symbols)*len(Sum{}))
	for _, d := range []*fresh.Digest{&o.Tokens, &o.Interface, &o.Digest} {
		sums = append(sums, d[:]...)
	}
	w.text(string(o.Language))
	w.text(o.Doc)
	w.text(o.Package)
	w.count(len(o.Imports))
	for _, name := range o.Imports {
		w.text(name)
	}
	w.count(o.More)
	w.text(o.Partial)
	w.count(len(o.Symbols))
	line := 0
	for i := range o.Symbols {
		s := &o.Symbols[i]
		flags := 0
		if s.Exported {
			flags |= symbolExported
		}
		if s.Qualified != "" {
			flags |= symbolQualified
		}
		if s.Doc != "" {
			flags |= symbolDoc
		}
		if !s.Tokens.IsZero() {
			flags |= symbolTokens
		}
		w.count(flags)
		w.text(string(s.Kind))
		w.text(s.Name)
		w.plain(s.Signature)
		if s.Qualified != "" {
			w.plain(s.Qualified)
		}
		if s.Doc != "" {
			w.plain(s.Doc)
		}
		w.count(s.Depth)
		w.distance(s.Line - line)
		w.distance(s.EndLine - s.Line)
		line = s.Line
		sums = append(sums, s.Text[:]...)
		sums = append(sums, s.Shape[:]...)
		if !s.Tokens.IsZero() {
			sums = append(sums, s.Tokens[:]...)
		}
	}
	packed := compress(w.out)
	out = slices.Grow(out, binary.MaxVarintLen64+len(packed)+len(sums))
	out = binary.AppendUvarint(out, uint64(len(packed)))
	return append(append(out, packed...), sums...), nil
}

var errOutline = errors.New("not the binary form of an outline")

// ReadBinary decodes an outline from its binary form. The result is nil if a nil outline was encoded.
func ReadBinary(b []byte) (*Outline, error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, errOutline
	}
	if size == 0 {
		return nil, nil
	}
	text, err := expand(b[n : n+int(size)])
	if err != nil {
		return nil, errOutline
	}
	in := binaryReader{rest: text}
	sums := b[n+int(size):]
	sum := func(into []byte) {
		in.bad = in.bad || len(sums) < len(into)
		sums = sums[copy(into, sums):]
	}
	o := new(Outline)
	for _, d := range []*fresh.Digest{&o.Tokens, &o.Interface, &o.Digest} {
		sum(d[:])
	}
	o.Language = Language(in.text())
	o.Doc = in.text()
	o.Package = in.text()
	for range in.length() {
		o.Imports = append(o.Imports, in.text())
	}
	o.More = in.count()
	o.Partial = in.text()
	switch n := in.length(); {
	case n > MaxSymbols:
		in.bad = true
	case n > 0:
		o.Symbols = make([]Symbol, n)
	}
	line := 0
	for i := range o.Symbols {
		s := &o.Symbols[i]
		flags := in.count()
		s.Exported = flags&symbolExported != 0
		s.Kind = Kind(in.text())
		s.Name = in.text()
		s.Signature = in.plain()
		if flags&symbolQualified != 0 {
			s.Qualified = in.plain()
		}
		if flags&symbolDoc != 0 {
			s.Doc = in.plain()
		}
		s.Depth = in.count()
		s.Line = line + in.distance()
		s.EndLine = s.Line + in.distance()
		line = s.Line
		sum(s.Text[:])
		sum(s.Shape[:])
		if flags&symbolTokens != 0 {
			sum(s.Tokens[:])
		}
	}
	if in.bad || len(in.rest) > 0 || len(sums) > 0 {
		return nil, errOutline
	}
	return o, nil
}

// Readers and writers of flate allocate large tables, so they are reused.
var (
	flateWriters = sync.Pool{New: func() any {
		w, err := flate.NewWriter(nil, flate.BestSpeed)
		if err != nil {
			panic(err) // the level is valid
		}
		return w
	}}
	flateReaders = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

func compress(text []byte) []byte {
	var out bytes.Buffer
	w := flateWriters.Get().(*flate.Writer)
	defer flateWriters.Put(w)
	w.Reset(&out)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // writes to a buffer do not fail
	}
	return out.Bytes()
}

// maxExpanded limits the memory that damaged data can use.
const maxExpanded = 64 << 20

func expand(packed []byte) ([]byte, error) {
	r := flateReaders.Get().(io.ReadCloser)
	defer flateReaders.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxExpanded))
}

// A binaryWriter encodes numbers and strings. A repeated string is the number of the earlier one, from 1. A
// new string is 0, its length and its bytes.
type binaryWriter struct {
	out   []byte
	known map[string]int
}

func (w *binaryWriter) count(n int)    { w.out = binary.AppendUvarint(w.out, uint64(n)) }
func (w *binaryWriter) distance(n int) { w.out = binary.AppendVarint(w.out, int64(n)) }

func (w *binaryWriter) text(s string) {
	if n, ok := w.known[s]; ok {
		w.count(n)
		return
	}
	w.known[s] = len(w.known) + 1
	w.count(0)
	w.count(len(s))
	w.out = append(w.out, s...)
}

// plain writes a string that is probably not repeated.
func (w *binaryWriter) plain(s string) {
	w.count(len(s))
	w.out = append(w.out, s...)
}

// A binaryReader decodes the parts of the binary form. After the end of the data it returns zeros and sets
// bad.
type binaryReader struct {
	rest  []byte
	known []string
	bad   bool
}

func (in *binaryReader) take() byte {
	if len(in.rest) == 0 {
		in.bad = true
		return 0
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b
}

func (in *binaryReader) count() int {
	n, size := binary.Uvarint(in.rest)
	if size <= 0 || n > 1<<31 {
		in.bad, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[size:]
	return int(n)
}

func (in *binaryReader) distance() int {
	n, size := binary.Varint(in.rest)
	if size <= 0 || n > 1<<31 || n < -1<<31 {
		in.bad, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[size:]
	return int(n)
}

// length reads the length of a list whose elements have at least one byte each.
func (in *binaryReader) length() int { return in.within(in.count()) }

func (in *binaryReader) within(n int) int {
	if n > len(in.rest) {
		in.bad, in.rest = true, nil
		return 0
	}
	return n
}

func (in *binaryReader) text() string {
	if n := in.count(); n > 0 {
		if n > len(in.known) {
			in.bad, in.rest = true, nil
			return ""
		}
		return in.known[n-1]
	}
	s := in.plain()
	in.known = append(in.known, s)
	return s
}

func (in *binaryReader) plain() string {
	n := in.length()
	s := string(in.rest[:n])
	in.rest = in.rest[n:]
	return s
}
