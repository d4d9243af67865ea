package repo

// Attributes are what git attributes and the config say about one path, as far
// as ken cares.
type Attributes struct {
	Convert  Convert
	Filtered bool // under a filter driver: its bytes on disk are not its blob
	// The linguist attributes; nil when not specified.
	Generated, Vendored *bool
	Binary              bool // the attribute of that name, not merely -text or -diff
}

// A Convert is what git does to a file's bytes before it stores them.
type Convert uint8

// The built-in conversions.
const (
	ConvertNone Convert = iota // stored as they are
	ConvertText                // every CRLF becomes LF
	ConvertAuto                // the same, if the bytes look like text and the index holds no CRLF
	ConvertGit                 // re-encoding or $Id$: only git itself can tell
)
