package repo

// A Commit is one commit as the history tells it.
type Commit struct {
	ID       ID
	Parents  []ID
	Date     string // of the author, RFC 3339
	Subject  string
	Trailers []Trailer // those that were asked for, in order
	// Changes are the paths that it changed: against its parent, and for a
	// merge only where the path differs from every parent.
	Changes []Change
}

// A Trailer is one line at the end of a commit's message, as git reads it.
type Trailer struct {
	Key   string
	Value string // unfolded
}

// A Change is what a commit did to one path. A move is a deletion and an addition.
type Change struct {
	Path Path
	Kind ChangeKind
	Old  ID // content before, against the first parent; zero for an addition
	New  ID // content after; zero for a deletion

	OldMode, NewMode Mode // of the same
}

// A ChangeKind is how a path changed.
type ChangeKind byte

// The kinds. A mode flip leaves the content as it was.
const (
	Modified ChangeKind = iota
	Added
	Deleted
	ModeFlipped
)

// A LineCount is how many lines of a file a commit added and took away.
type LineCount struct{ Added, Deleted int }

// A FileChange is how one file differs between two trees.
type FileChange struct {
	Change
	// From is the path before the change, if the file was renamed; "" otherwise.
	From Path
	// Unmerged says that the merge of this path is not resolved.
	Unmerged bool
}

// OldPath is the path before the change.
func (c *FileChange) OldPath() Path {
	if c.From != "" {
		return c.From
	}
	return c.Path
}
