package share

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// A Name identifies a record: the SHA-256 of its encoding.
type Name [sha256.Size]byte

// NameOf returns the name of an encoding.
func NameOf(encoding []byte) Name { return sha256.Sum256(encoding) }

func (n Name) String() string { return hex.EncodeToString(n[:]) }

// MarshalText writes the name in hex.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a name in hex.
func (n *Name) UnmarshalText(b []byte) (err error) {
	*n, err = ParseName(string(b))
	return err
}

// ParseName parses 64 lower-case hex digits. It accepts no other spelling.
func ParseName(s string) (n Name, err error) {
	if len(s) != hex.EncodedLen(len(n)) || strings.ToLower(s) != s {
		return Name{}, fmt.Errorf("invalid record name %q", s)
	}
	if _, err := hex.Decode(n[:], []byte(s)); err != nil {
		return Name{}, fmt.Errorf("invalid record name %q", s)
	}
	return n, nil
}
