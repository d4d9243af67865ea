package repo

import (
	"bytes"
	"strings"
)

// A ReadRequest asks for one file to be read.
type ReadRequest struct {
	Path Path
	// Known is a content that the bytes may well have: if the id turns out to
	// be that one, so is the md5, and is not computed. Its md5 may be zero, for
	// a caller that has no use for it. The zero Content is no such guess.
	Known Content
	// Proven says that git stores the bytes as Known.ID while the file's stat
	// is Seen. Then it is the id that is not computed, unless there are line
	// endings that git might have converted.
	Proven bool
	// Seen is the stat that the file had a moment ago, which may save looking
	// again. Zero when nobody looked.
	Seen Stat
	// Convert names the conversion whose result is wanted too; ConvertText and
	// ConvertAuto fill [Reading.Converted].
	Convert Convert
}

// A Reading is what one streaming read of a file found.
type Reading struct {
	Raw  Content // of the bytes as they are; for a symlink, of its target text
	Size int64   // how many bytes there were
	CRLF bool    // they hold a CR directly before a LF
	// Converted is the id with CRLF turned into LF, where that was asked for
	// and changes something; zero otherwise.
	Converted ID
	AsSeen    bool  // the file's stat was the request's Seen
	Found     Found // the stat that vouches for what was read; zero Stat when it may not
	Kind      Kind  // by name and first bytes
	Err       error
}

// A LoadedFile is a file of a tree with its content.
type LoadedFile struct {
	Path    Path
	Content []byte
	// ID is the content's id, where Content is only the beginning; zero where Content
	// is all of it.
	ID ID
	// Problem says why there is no content: a link, or no file at all.
	Problem string
}

// A StatDigest is a digest of the stats of paths. While it is the same, so is what lies
// there. The zero StatDigest equals none.
type StatDigest struct {
	Names []byte `json:"names"` // the paths, each ended by NUL
	Sum   []byte `json:"sum"`   // of their stats
}

// NewStatDigest returns the digest of the stats of paths.
func NewStatDigest(paths []Path, sum []byte) StatDigest {
	var names []byte
	for _, p := range paths {
		names = append(append(names, p...), 0)
	}
	return StatDigest{names, sum}
}

// IsZero reports whether there is no digest.
func (d StatDigest) IsZero() bool { return len(d.Sum) == 0 }

// Equal reports whether two digests are of the same paths and stats.
func (d StatDigest) Equal(e StatDigest) bool {
	return bytes.Equal(d.Sum, e.Sum) && bytes.Equal(d.Names, e.Names)
}

// Paths returns the paths of the digest.
func (d StatDigest) Paths() []Path {
	all := string(d.Names)
	paths := make([]Path, 0, strings.Count(all, "\x00"))
	for {
		p, rest, ok := strings.Cut(all, "\x00")
		if !ok {
			return paths
		}
		paths, all = append(paths, Path(p)), rest
	}
}
