package outline

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"

	"ken/internal/outline/syntax"
)

// A scratch is the memory that one file is read in. All of it is garbage when the outline
// is there, so the next file is read in it again.
type scratch struct {
	items   []item
	symbols []draft
	code    []byte   // of the items, one behind the other: see encode
	codeAt  []uint32 // where the code of each item begins, and where the last one ends
	lines   []int
	nodes   []syntax.Node
	spans   []span
	words   []byte
	hash    digester
	another digester

	collector nameCollector
}

// What a scratch may have had to be kept: few files have more.
const (
	scratchKept = 4 << 20 // bytes of code
	symbolsKept = 2000
	namesKept   = 1 << 16
)

var scratches = sync.Pool{New: func() any { return &scratch{hash: *newDigester(), another: *newDigester()} }}

// release gives back the memory of a file that is not looked at any more.
func (f *file) release() {
	s := f.scratch
	clear(f.symbols) // what they say is the outline's
	s.items, s.symbols, s.lines = f.items[:0], f.symbols[:0], f.lines[:0]
	s.collector.file, s.collector.found = nil, nil
	if cap(s.collector.pending) > namesKept || cap(s.collector.texts) > namesKept {
		s.collector = nameCollector{}
	}
	f.scratch, f.items, f.symbols, f.lines = nil, nil, nil, nil
	if cap(s.code) <= scratchKept && cap(s.symbols) <= symbolsKept {
		scratches.Put(s)
	}
}

// encode writes down what counts of the items. A digest of some of them is one of
// their part of it.
func (f *file) encode() {
	s := f.scratch
	s.code, s.codeAt = s.code[:0], s.codeAt[:0]
	for _, it := range f.items {
		s.codeAt = append(s.codeAt, uint32(len(s.code)))
		text := f.src[it.start:it.end]
		switch it.what {
		case leaf, aside, blanks:
			s.code = appendPart(s.code, it.what, text)
		case docs:
			s.code = appendPart(s.code, docs, strings.Join(strings.Fields(undecorated(string(text))), " "))
		case prose:
			s.code = appendPart(s.code, prose, unwrapped(text))
		case lineBreak, indent, dedent:
			s.code = appendPart(s.code, it.what, "")
		default:
			s.code = appendPart(s.code, it.what, f.names[it.name])
		}
	}
	s.codeAt = append(s.codeAt, uint32(len(s.code)))
}

// codeOf is the code of some items.
func (f *file) codeOf(from, to int) []byte {
	return f.scratch.code[f.scratch.codeAt[from]:f.scratch.codeAt[to]]
}

// appendPart appends a part as a digester has it.
func appendPart[T string | []byte](out []byte, kind itemKind, text T) []byte {
	return append(binary.AppendUvarint(append(out, byte(kind)), uint64(len(text))), text...)
}

// appendLines appends where the lines of a text start.
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
