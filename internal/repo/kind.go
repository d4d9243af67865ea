package repo

import "fmt"

// A Kind is the kind of a file. The zero value is KindUnknown.
type Kind uint8

// The kinds.
const (
	KindUnknown Kind = iota
	KindSource
	KindTest
	KindConfig
	KindDoc
	KindData
	KindLockfile
	KindGenerated
	KindVendored
	KindBinary
	KindLFS
	KindSymlink
	KindGitlink
)

var kindNames = [...]string{
	"unknown", "source", "test", "config", "doc", "data", "lockfile", "generated", "vendored",
	"binary", "lfs", "symlink", "gitlink",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind parses the result of String.
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if name == s {
			return Kind(k), nil
		}
	}
	return KindUnknown, fmt.Errorf("unknown kind of file %q", s)
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the kind's name.
func (k *Kind) UnmarshalText(b []byte) error {
	var err error
	*k, err = ParseKind(string(b))
	return err
}
