package repo

// A Commit is one commit of a history.
type Commit struct {
	ID       ID
	Parents  []ID
	Date     string // of the author, RFC 3339
	Subject  string
	Message  string    // "" if no trailers were requested
	Trailers []Trailer // the requested ones, in order
	// Changes are the paths that differ from the parent; for a merge, those that differ from every parent.
	Changes []Change
}

// A Trailer is one line at the end of a commit's message, as git reads it.
type Trailer struct {
	Key   string
	Value string // unfolded
}

// A Change is the change of one path by a commit. A move is a deletion and an addition.
type Change struct {
	Path Path
	Kind ChangeKind
	Old  ID // content before, against the first parent; zero for an addition
	New  ID // content after; zero for a deletion

	OldMode, NewMode Mode // of the same
}

// A ChangeKind is how a path changed.
type ChangeKind byte

// The kinds. ModeFlipped leaves the content unchanged.
const (
	Modified ChangeKind = iota
	Added
	Deleted
	ModeFlipped
)

// A LineCount is the number of lines of a file that a commit added and deleted.
type LineCount struct{ Added, Deleted int }

// A FileChange is the difference of one file between two trees.
type FileChange struct {
	Change
	// From is the path before the change, if the file was renamed; "" otherwise.
	From Path
	// Unmerged says that the merge of this path is not resolved.
	Unmerged bool
}

// OldPath returns the path before the change.
func (c *FileChange) OldPath() Path {
	if c.From != "" {
		return c.From
	}
	return c.Path
}
