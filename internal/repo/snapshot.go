package repo

// A Snapshot is one consistent reading of what git knows about a work tree.
// Everything one run answers is judged against one Snapshot.
type Snapshot struct {
	Worktree string // name of a linked worktree, "" for the main one
	Head     Head
	Index    Index

	// FileMode says whether the file system keeps executable bits that mean
	// something (core.fileMode).
	FileMode bool
	// Symlinks says whether the file system has symbolic links; where it has
	// not, git keeps them as files (core.symlinks).
	Symlinks bool
	// Attributed says whether any git attributes may apply to any path; when
	// false, asking for them is a waste.
	Attributed bool
	// AttributesDigest changes whenever attributes outside the tracked
	// .gitattributes files may have changed.
	AttributesDigest string
}

// A Head is where HEAD points.
type Head struct {
	Commit ID     // zero while unborn
	Branch string // full ref name, "" when detached
}

// An Index is git's index: what is tracked, and what git saw of it last.
type Index struct {
	Entries  []Entry // in byte order of their paths, each path once
	Tree     ID      // tree the index would write; zero when the index does not say
	Checksum ID      // of the index file; zero when the file carries none
	// Submodules has the gitlinks that are checked out.
	Submodules map[Path]Submodule
	Stat       Stat // of the index file; zero when there is none
}

// An Entry is one tracked path.
type Entry struct {
	Path  Path
	ID    ID // blob, or commit for a gitlink; zero when conflicted
	Mode  Mode
	Flags Flags
	// Stat is what git saw on disk when the content was ID. Sizes and inodes
	// are cut to 32 bits there; compare with [Stat.MatchesIndex].
	Stat Stat
}

// A Submodule is what stands at a gitlink.
type Submodule struct {
	Head ID    // commit its own HEAD is at; zero while unborn
	Err  error // why that could not be read
}

// Flags are what the index says about an entry beside its content.
type Flags uint8

// The flags.
const (
	AssumeUnchanged Flags = 1 << iota
	SkipWorktree
	IntentToAdd
	Conflicted
	// Racy marks an entry whose stat proves nothing, because the file could
	// have been written again in the tick in which the index was.
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

// A Stat is the part of lstat that vouches for content: while it is the same,
// the bytes are. Times are nanoseconds since 1970. The zero Stat vouches for
// nothing.
type Stat struct {
	Size  int64
	Mtime int64
	Ctime int64
	Inode uint64
}

// IsZero reports whether s vouches for nothing.
func (s Stat) IsZero() bool { return s == Stat{} }

// MatchesIndex reports whether s, from the disk, is what git recorded in idx.
func (s Stat) MatchesIndex(idx Stat) bool {
	return s.Mtime == idx.Mtime && s.Ctime == idx.Ctime && !idx.IsZero() &&
		uint32(s.Size) == uint32(idx.Size) && uint32(s.Inode) == uint32(idx.Inode)
}

// A Presence is what stands at a tracked path on disk.
type Presence uint8

// These are the kinds of entries at a path. The zero value is Unlooked, so that a path that ken did not look at cannot
// pass for an absent one.
const (
	Unlooked   Presence = iota
	Absent              // nothing, or a directory or symlink stands in the way
	File                // a regular file
	Link                // a symbolic link
	Directory           // a directory
	Special             // a socket, pipe or device
	Unreadable          // the file system refused to say
)

// A Found is the answer to one lstat.
type Found struct {
	Presence   Presence
	Executable bool
	Stat       Stat
	Err        error // why, when Unreadable
}

// A Content is what bytes are: the id git would store them under, and their md5.
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
