package outline

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"

	"ken/internal/fresh"
)

// A Sum is a short digest of a part of a file. It is short because an outline has three for every symbol.
// The zero Sum means none.
type Sum [16]byte

// IsZero reports whether s is the zero Sum.
func (s Sum) IsZero() bool { return s == Sum{} }

func (s Sum) String() string {
	if s.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(s[:])
}

// MarshalText encodes the sum in base64. The zero Sum is empty.
func (s Sum) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return nil, nil
	}
	return base64.RawURLEncoding.AppendEncode(nil, s[:]), nil
}

// UnmarshalText decodes the result of MarshalText.
func (s *Sum) UnmarshalText(b []byte) error {
	*s = Sum{}
	if len(b) == 0 {
		return nil
	}
	raw, err := base64.RawURLEncoding.AppendDecode(nil, b)
	if err != nil || len(raw) != len(s) {
		return fmt.Errorf("checksum %q: expected %d bytes in base64", b, len(s))
	}
	copy(s[:], raw)
	return nil
}

// A digester hashes a sequence of parts. Every part includes its length, so different sequences have
// different input.
type digester struct {
	h   hash.Hash
	buf []byte // not hashed yet; most parts have a few bytes
	out fresh.Digest
}

// digesterBytes is the size of the digester's buffer.
const digesterBytes = 4 << 10

func newDigester() *digester { return &digester{h: sha256.New(), buf: make([]byte, 0, digesterBytes)} }

// part adds one part of a kind.
func (d *digester) part(kind byte, b []byte) {
	d.begin(kind, len(b))
	if len(b) > digesterBytes/2 {
		d.flush()
		d.h.Write(b)
		return
	}
	d.buf = append(d.buf, b...)
}

func (d *digester) text(kind byte, s string) {
	d.begin(kind, len(s))
	d.buf = append(d.buf, s...)
}

// begin adds the header of a part. If the part is small, the buffer has room for it afterwards.
func (d *digester) begin(kind byte, size int) {
	if len(d.buf)+size+1+binary.MaxVarintLen64 > digesterBytes {
		d.flush()
	}
	d.buf = binary.AppendUvarint(append(d.buf, kind), uint64(size))
}

func (d *digester) number(kind byte, n int) {
	d.buf = binary.AppendVarint(append(d.buf, kind), int64(n))
}

func (d *digester) flush() {
	d.h.Write(d.buf)
	d.buf = d.buf[:0]
}

// encoded adds parts that appendPart has encoded.
func (d *digester) encoded(parts []byte) {
	d.flush()
	d.h.Write(parts)
}

func (d *digester) digest() fresh.Digest {
	d.flush()
	d.h.Sum(d.out[:0])
	return d.out
}

func (d *digester) sum() (out Sum) {
	whole := d.digest()
	copy(out[:], whole[:])
	return out
}

func (d *digester) reset() {
	d.h.Reset()
	d.buf = d.buf[:0]
}
