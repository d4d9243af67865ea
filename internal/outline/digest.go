package outline

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"

	"ken/internal/fresh"
)

// A Sum names a part of a file by its content, shorter than a digest since an
// outline keeps three for every symbol. Its zero value names nothing.
type Sum [16]byte

// IsZero reports whether s names nothing.
func (s Sum) IsZero() bool { return s == Sum{} }

func (s Sum) String() string {
	if s.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(s[:])
}

// MarshalText writes the sum in base64, nothing for the zero Sum.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Sum) UnmarshalText(b []byte) error {
	*s = Sum{}
	if len(b) == 0 {
		return nil
	}
	raw, err := base64.RawURLEncoding.AppendDecode(nil, b)
	if err != nil || len(raw) != len(s) {
		return fmt.Errorf("sum %q: want %d bytes in base64", b, len(s))
	}
	copy(s[:], raw)
	return nil
}

// A digester hashes a sequence of parts so that no two sequences run into each
// other: every part goes in with its length.
type digester struct {
	h   hash.Hash
	buf [binary.MaxVarintLen64 + 1]byte
}

func newDigester() *digester { return &digester{h: sha256.New()} }

// part adds one part of a kind.
func (d *digester) part(kind byte, b []byte) {
	d.buf[0] = kind
	n := binary.PutUvarint(d.buf[1:], uint64(len(b)))
	d.h.Write(d.buf[:1+n])
	d.h.Write(b)
}

func (d *digester) text(kind byte, s string) { d.part(kind, []byte(s)) }

func (d *digester) number(kind byte, n int) {
	d.buf[0] = kind
	k := binary.PutVarint(d.buf[1:], int64(n))
	d.h.Write(d.buf[:1+k])
}

func (d *digester) digest() (out fresh.Digest) {
	d.h.Sum(out[:0])
	return out
}

func (d *digester) sum() (out Sum) {
	whole := d.digest()
	copy(out[:], whole[:])
	return out
}

func (d *digester) reset() { d.h.Reset() }
