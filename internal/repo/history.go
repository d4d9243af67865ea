package repo

// A CommitNumber is a commit's number in a history. The number of a parent is lower
// than that of its child. A commit keeps its number as long as the history is kept.
type CommitNumber int32

// A HistoryCommit is one commit of a history.
type HistoryCommit struct {
	ID       ID
	Parents  []CommitNumber
	Date     string // RFC 3339
	Subject  string
	Trailers []Trailer // those that the [HistoryFilter] keeps
}

// A ParentTable lists the parents of all commits of a history: those of n are Numbers
// from Starts[n] to Starts[n+1]. Callers must not change it.
type ParentTable struct {
	Starts  []int32
	Numbers []CommitNumber
}

// Of returns the parents of a commit.
func (t *ParentTable) Of(n CommitNumber) []CommitNumber {
	return t.Numbers[t.Starts[n]:t.Starts[n+1]]
}

// A Touch is a commit that changed a path.
type Touch struct {
	Commit CommitNumber
	Kind   ChangeKind
}

// Edits reports whether the commit gave the path content that it did not have.
func (t Touch) Edits() bool { return t.Kind == Modified || t.Kind == Added }

// PathTouches are a path and the commits that changed it.
type PathTouches struct {
	Path    Path
	Touches []Touch // ascending
}

// A Move is a file that a commit moved: git finds the two at least half alike.
type Move struct {
	Commit   CommitNumber
	From, To Path
	Same     bool // the content did not change
}

// A HistoryFilter selects what a history keeps of each commit besides its date, subject and
// changed paths. The zero value keeps no trailer, marks no commit and follows no move.
type HistoryFilter struct {
	Trailers []string // keys of the trailers to keep, in any case
	Marker   string   // commits with this trailer are marked, and those with a trailer that starts with it
	// Read returns the trailers to keep of a commit, given its message and its trailers; nil means those trailers.
	Read func(Commit) []Trailer
	// The moves of files with the name MoveName below the directory MoveDir are followed.
	MoveDir  Path
	MoveName string
}

// Follows reports whether the filter follows the moves of a path.
func (f HistoryFilter) Follows(p Path) bool {
	return f.MoveName != "" && p.Base() == f.MoveName && p.Dir().Under(f.MoveDir)
}

// A CommitPath is a path in a commit.
type CommitPath struct {
	Commit ID
	Path   Path
}

// A MergedFile is a path in a merge commit.
type MergedFile struct {
	Commit  ID
	Parents []ID // as the history has them
	Path    Path
	From    []Path // the paths that the commit moved it from
}

// A MergeVerdict says who made the content of a file in a merge commit.
type MergeVerdict struct {
	By  MergeAuthor
	Why string // the reason for MergeUnknown
}

// A MergeAuthor is who made the content of a file in a merge commit. Its zero value is
// MergeUnknown.
type MergeAuthor int

// The authors.
const (
	MergeUnknown  MergeAuthor = iota // the merge could not be repeated
	MergeByGit                       // git's own merge of the parents has the same content, without a conflict
	MergeByPerson                    // a person resolved a conflict, or changed something in the merge
)

// A PendingCommit lists the changes of the next commit.
type PendingCommit struct {
	Changes []PendingChange // in git's order; an unmerged path may come twice
	Merge   bool            // the commit would be a merge
}

// A PendingChange is one path that the next commit would change.
type PendingChange struct {
	Path     Path
	ID       ID // content after; zero for a deletion
	Mode     Mode
	Unmerged bool // the merge of this path is not resolved
}

// A Removal is a path that a commit removed: the file was deleted or moved.
type Removal struct {
	Path    Path
	MovedTo Path // where git finds the file again, at least half alike; "" for nowhere
	// Similarity is how much of the content is still there, in percent.
	Similarity int
	ID         ID // content before
	// Unsearched is set if git lacks contents that it needs to find the file again.
	Unsearched bool
}
