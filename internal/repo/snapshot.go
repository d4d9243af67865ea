package repo

import (
	"slices"
	"strings"
)

// A Snapshot is HEAD and the index of a work tree at one moment. All answers of one run use one Snapshot.
type Snapshot struct {
	Worktree string // name of a linked worktree, "" for the main one
	Head     Head
	Index    Index

	// FileMode says whether the executable bits of the file system count (core.fileMode).
	FileMode bool
	// Symlinks says whether the file system has symbolic links (core.symlinks). Without them, git checks out links as
	// files.
	Symlinks bool
	// Attributed says whether git attributes may apply to any path.
	Attributed bool
	// AttributesDigest changes when attributes outside of tracked .gitattributes files may have changed.
	AttributesDigest string
}

// A Head is the commit and branch of HEAD.
type Head struct {
	Commit ID     // zero while unborn
	Branch string // full ref name, "" when detached
}

// An Index is git's index: the tracked paths, with the content and stat that git saw last.
type Index struct {
	Entries  []Entry // in byte order of their paths, each path once
	Tree     ID      // tree that the index would write; zero if the index does not have it
	Checksum ID      // of the index file; zero if the file has none
	// Submodules has the gitlinks that are checked out.
	Submodules map[Path]Submodule
	Stat       Stat // of the index file; zero if there is none
}

// An Entry is one tracked path.
type Entry struct {
	Path  Path
	ID    ID // blob, or commit for a gitlink; zero when conflicted
	Mode  Mode
	Flags Flags
	// Stat is the stat of the file when git saw the content ID. The index cuts sizes and inodes to 32 bits, so compare
	// with [Stat.MatchesIndex].
	Stat Stat
}

// FindEntry returns the position of a path among the entries of an index, and whether it is there.
func FindEntry(entries []Entry, path Path) (int, bool) {
	return slices.BinarySearchFunc(entries, path, func(e Entry, p Path) int { return strings.Compare(string(e.Path), string(p)) })
}

// A Submodule is the repository at a gitlink.
type Submodule struct {
	Head ID    // commit of its HEAD; zero without a commit
	Err  error // why that could not be read
}

// Flags are the flags of an entry in the index.
type Flags uint8

// The flags.
const (
	AssumeUnchanged Flags = 1 << iota
	SkipWorktree
	IntentToAdd
	Conflicted
	// Racy marks an entry whose stat proves nothing: the file may have been written again in the clock tick in which
	// the index was written.
	Racy
)

// Has reports whether all of g is in f.
func (f Flags) Has(g Flags) bool { return f&g == g }

// A Mode is a git file mode: type and executable bit.
type Mode uint32

// The modes git knows.
const (
	Regular    Mode = 0o100644
	Executable Mode = 0o100755
	Symlink    Mode = 0o120000
	Gitlink    Mode = 0o160000
)

// SameType reports whether two modes differ at most in the executable bit.
func (m Mode) SameType(n Mode) bool { return m&0o170000 == n&0o170000 }

// A Stat is the part of lstat that proves content: while it is the same, the bytes are the same. Times are nanoseconds
// since 1970. The zero Stat proves nothing.
type Stat struct {
	Size  int64
	Mtime int64
	Ctime int64
	Inode uint64
}

// IsZero reports whether s is the zero Stat.
func (s Stat) IsZero() bool { return s == Stat{} }

// MatchesIndex reports whether s, from the disk, is the stat idx of the index.
func (s Stat) MatchesIndex(idx Stat) bool {
	return s.Mtime == idx.Mtime && s.Ctime == idx.Ctime && !idx.IsZero() &&
		uint32(s.Size) == uint32(idx.Size) && uint32(s.Inode) == uint32(idx.Inode)
}

// A Presence is the type of file at a tracked path on disk.
type Presence uint8

// The presences. The zero value is NotChecked, so that a path that ken did not look at does not count as absent.
const (
	NotChecked  Presence = iota
	Absent               // nothing, or a parent directory is a file or a symlink
	RegularFile          // a regular file
	Link                 // a symbolic link
	Directory            // a directory
	Special              // a socket, pipe or device
	Unreadable           // the file system returned an error
)

// A FileStat is the result of one lstat.
type FileStat struct {
	Presence   Presence
	Executable bool
	Stat       Stat
	Err        error // the reason for Unreadable
}

// A Content identifies bytes: by the id under which git would store them, and by their md5.
type Content struct {
	ID  ID
	MD5 MD5
}

// An Upstream is the branch that HEAD's branch follows, as last fetched.
type Upstream struct {
	Ref    string // full name of the tracking ref, "" when unknown
	Commit ID
	Known  bool
	Ahead  int
	Behind int
}
