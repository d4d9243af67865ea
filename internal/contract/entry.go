package contract

import "time"

// An Entry is something that lies in the state directory, as lstat saw it.
type Entry struct {
	Name    string // its bytes; any but a slash
	Kind    EntryKind
	Size    int64
	ModTime time.Time
	Err     error // why it could not be inspected; the rest is zero then
}

// An EntryKind is what sort of thing an entry is. Nothing is ever followed.
type EntryKind int

// The kinds. The zero value is Uninspected.
const (
	Uninspected EntryKind = iota
	Regular
	Directory
	Symlink
	Special // a device, a socket, a pipe
)
