package repo

import "ken/internal/enum"

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

var kindNames = enum.Names[Kind]{
	"unknown", "source", "test", "config", "doc", "data", "lockfile", "generated", "vendored",
	"binary", "lfs", "symlink", "gitlink",
}

func (k Kind) String() string { return kindNames.String(k) }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the kind's name.
func (k *Kind) UnmarshalText(b []byte) error { return kindNames.Parse(b, k) }
