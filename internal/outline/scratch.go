package outline

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"

	"ken/internal/outline/syntax"
)

// A scratch is the temporary memory for reading one file. It is reused for the next file.
type scratch struct {
	items       []item
	symbols     []draft
	code        []byte   // the encoded items, see encode
	codeAt      []uint32 // start of each item in code, and the end of the last one
	lines       []int
	nodes       []syntax.Node
	spans       []span
	words       []byte
	hash        digester
	outlineHash digester

	collector nameCollector
}

// Limits of the memory that is kept for the next file. Few files need more.
const (
	maxKeptCode    = 4 << 20 // bytes of code
	maxKeptSymbols = 2000
	maxKeptNames   = 1 << 16
)

var scratches = sync.Pool{New: func() any { return &scratch{hash: *newDigester(), outlineHash: *newDigester()} }}

// release frees the memory of f for reuse.
func (f *file) release() {
	s := f.scratch
	clear(f.symbols) // the outline has copies
	s.items = f.items[:0]
	s.symbols = f.symbols[:0]
	s.lines = f.lines[:0]
	s.collector.file, s.collector.found = nil, nil
	if cap(s.collector.pending) > maxKeptNames || cap(s.collector.texts) > maxKeptNames {
		s.collector = nameCollector{}
	}
	f.scratch = nil
	f.items = nil
	f.symbols = nil
	f.lines = nil
	if cap(s.code) <= maxKeptCode && cap(s.symbols) <= maxKeptSymbols {
		scratches.Put(s)
	}
}

// encode encodes the significant part of each item. The digest of a range of items is that of their
// encoding.
func (f *file) encode() {
	s := f.scratch
	s.code, s.codeAt = s.code[:0], s.codeAt[:0]
	for _, it := range f.items {
		s.codeAt = append(s.codeAt, uint32(len(s.code)))
		text := f.src[it.start:it.end]
		switch it.kind {
		case leaf, verbatim, blanks:
			s.code = appendPart(s.code, it.kind, text)
		case docs:
			s.code = appendPart(s.code, docs, strings.Join(strings.Fields(withoutCommentMarks(string(text))), " "))
		case prose:
			s.code = appendPart(s.code, prose, joinLines(text))
		case lineBreak, indent, dedent:
			s.code = appendPart(s.code, it.kind, "")
		default:
			s.code = appendPart(s.code, it.kind, f.names[it.name])
		}
	}
	s.codeAt = append(s.codeAt, uint32(len(s.code)))
}

// codeOf returns the encoding of a range of items.
func (f *file) codeOf(from, to int) []byte {
	return f.scratch.code[f.scratch.codeAt[from]:f.scratch.codeAt[to]]
}

// appendPart encodes a part as digester.part does.
func appendPart[T string | []byte](out []byte, kind itemKind, text T) []byte {
	return append(binary.AppendUvarint(append(out, byte(kind)), uint64(len(text))), text...)
}

// appendLines appends the offsets of line starts in src.
func appendLines(lines []int, src []byte) []int {
	lines = append(lines, 0)
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return lines
		}
		at += i + 1
		lines = append(lines, at)
	}
}
