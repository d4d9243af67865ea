package repo

// Attributes are the git attributes and settings of one path that ken uses.
type Attributes struct {
	Convert  Convert
	Filtered bool // a filter driver applies, so the bytes on disk are not those of the blob
	// The linguist attributes; nil when not specified.
	Generated, Vendored *bool
	Binary              bool // the attribute binary is set; -text or -diff alone is not enough
}

// A Convert is the conversion of a file's bytes before git stores them.
type Convert uint8

// The built-in conversions.
const (
	ConvertNone Convert = iota // stored as they are
	ConvertText                // every CRLF becomes LF
	ConvertAuto                // the same, if the bytes look like text and the index has no CRLF
	ConvertGit                 // another encoding, or $Id$: only git can convert it
)
