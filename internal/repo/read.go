package repo

import (
	"bytes"
	"strings"
)

// A ReadRequest asks for one file to be read.
type ReadRequest struct {
	Path Path
	// Known is a content that the file probably has. If the id is that of Known, so is the md5, which then needs no
	// computation. The md5 of Known may be zero if the caller does not need it. The zero Content is no guess.
	Known Content
	// Proven is set if git stores the bytes as Known.ID while the stat of the file is Seen. Then the id needs no
	// computation, unless git may have converted line endings.
	Proven bool
	// Seen is the stat that the file had a moment ago, zero if it is unknown. It can save another stat.
	Seen Stat
	// Convert is a conversion whose result the caller wants, too. ConvertText and ConvertAuto fill [Reading.Converted].
	Convert Convert
}

// A Reading is the result of one streaming read of a file.
type Reading struct {
	Raw  Content // of the bytes as they are; for a symlink, of its target text
	Size int64   // the number of bytes
	CRLF bool    // there is a CR directly before an LF
	// Converted is the id after CRLF became LF, if the request asked for it and it changes something; zero otherwise.
	Converted ID
	AsSeen    bool     // the file's stat was the request's Seen
	Found     FileStat // the stat that proves the content; zero Stat if it proves nothing
	Kind      Kind     // by name and first bytes
	Err       error
}

// A LoadedFile is a file of a tree with its content.
type LoadedFile struct {
	Path    Path
	Content []byte
	// ID is the id of the content if Content is only its beginning; zero if Content is complete.
	ID ID
	// Problem says why there is no content: a link, or no file at all.
	Problem string
}

// A StatDigest is a digest of the stats of paths. An equal digest means equal files. The zero StatDigest equals none.
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
