// Package repo holds the words every other package shares when it speaks of a
// git repository: paths, content ids, index entries, what was found on disk.
//
// It knows shapes and spellings only. Reading a repository belongs to
// internal/git, reading files to internal/content, and judging what was read to
// the deciding packages.
package repo

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
)

// An ObjectFormat is the hash that a repository names its objects by. The zero
// value is SHA1.
type ObjectFormat uint8

// The formats git knows.
const (
	SHA1 ObjectFormat = iota
	SHA256
)

// Size is how many bytes an id of this format has.
func (f ObjectFormat) Size() int {
	if f == SHA256 {
		return sha256.Size
	}
	return sha1.Size
}

// New returns the format's hash.
func (f ObjectFormat) New() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// An ID is a git object id, of either object format. Its zero value names no
// object and is never equal to one that does.
type ID struct {
	size uint8
	sum  [32]byte
}

// A MovedError says that HEAD is no longer where it was looked at.
type MovedError struct{ Seen, Now ID }

func (e *MovedError) Error() string {
	return fmt.Sprintf("HEAD was at %s and is at %s now", e.Seen.Short(), e.Now.Short())
}

// ParseID reads a full object id, 40 or 64 hex digits of either case.
func ParseID(s string) (ID, error) {
	if len(s) != 40 && len(s) != 64 {
		return ID{}, fmt.Errorf("object id %q: want 40 or 64 hex digits", s)
	}
	var id ID
	if _, err := hex.Decode(id.sum[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("object id %q: %w", s, err)
	}
	id.size = uint8(len(s) / 2)
	if id.allZero() {
		return ID{}, nil
	}
	return id, nil
}

// IDFromBytes makes an id of the 20 or 32 bytes of a digest. Any other length,
// and the all-zero id that git writes for "no object", give the zero ID.
func IDFromBytes(b []byte) ID {
	if len(b) != 20 && len(b) != 32 {
		return ID{}
	}
	var id ID
	id.size = uint8(copy(id.sum[:], b))
	if id.allZero() {
		return ID{}
	}
	return id
}

func (id ID) allZero() bool { return id.sum == [32]byte{} }

// IsZero reports whether id names no object.
func (id ID) IsZero() bool { return id.size == 0 }

// Bytes returns the digest, nil for the zero ID.
func (id ID) Bytes() []byte {
	if id.size == 0 {
		return nil
	}
	return id.sum[:id.size]
}

// String returns the id in hex, "" for the zero ID.
func (id ID) String() string { return hex.EncodeToString(id.Bytes()) }

// Short returns the first seven digits, enough for a person to recognise it.
func (id ID) Short() string {
	if s := id.String(); s != "" {
		return s[:7]
	}
	return ""
}

// MarshalBinary returns the digest.
func (id ID) MarshalBinary() ([]byte, error) { return id.Bytes(), nil }

// UnmarshalBinary reads what MarshalBinary returns.
func (id *ID) UnmarshalBinary(b []byte) error {
	*id = IDFromBytes(b)
	return nil
}

// MarshalJSON writes the id in hex and the zero ID as null.
func (id ID) MarshalJSON() ([]byte, error) { return marshalHex(id.Bytes()), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (id *ID) UnmarshalJSON(b []byte) error {
	s, err := unmarshalHex(b)
	if err != nil || s == "" {
		*id = ID{}
		return err
	}
	*id, err = ParseID(s)
	return err
}

// An MD5 is the md5 of the bytes of a file in the work tree. Its zero value means that ken has not read them.
type MD5 [16]byte

// ParseMD5 reads 32 hex digits of either case.
func ParseMD5(s string) (MD5, error) {
	var m MD5
	if len(s) != 32 {
		return MD5{}, fmt.Errorf("md5 %q: want 32 hex digits", s)
	}
	if _, err := hex.Decode(m[:], []byte(s)); err != nil {
		return MD5{}, fmt.Errorf("md5 %q: %w", s, err)
	}
	return m, nil
}

// IsZero reports whether the md5 is not known.
func (m MD5) IsZero() bool { return m == MD5{} }

// String returns the md5 in hex, "" when it is not known.
func (m MD5) String() string {
	if m.IsZero() {
		return ""
	}
	return hex.EncodeToString(m[:])
}

// MarshalJSON writes the md5 in hex and an unknown one as null.
func (m MD5) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return marshalHex(nil), nil
	}
	return marshalHex(m[:]), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *MD5) UnmarshalJSON(b []byte) error {
	s, err := unmarshalHex(b)
	if err != nil || s == "" {
		*m = MD5{}
		return err
	}
	*m, err = ParseMD5(s)
	return err
}

func marshalHex(b []byte) []byte {
	if len(b) == 0 {
		return []byte("null")
	}
	out := append(make([]byte, 0, 2+hex.EncodedLen(len(b))), '"')
	out = hex.AppendEncode(out, b)
	return append(out, '"')
}

func unmarshalHex(b []byte) (string, error) {
	if string(b) == "null" {
		return "", nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", errors.New("want a string of hex digits or null")
	}
	return string(b[1 : len(b)-1]), nil
}

// Blob returns the id that git stores these bytes under.
func (f ObjectFormat) Blob(content []byte) ID {
	h := f.New()
	h.Write(append(strconv.AppendInt([]byte("blob "), int64(len(content)), 10), 0))
	h.Write(content)
	return IDFromBytes(h.Sum(nil))
}
