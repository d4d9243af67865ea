package docs

import (
	"context"
	"errors"

	"ken/internal/repo"
)

// ErrAbsent says that git knows of a content and does not have it.
var ErrAbsent = errors.New("its content is not here")

// A File is a file that git tracks, now or in a commit.
type File struct {
	Path repo.Path
	ID   repo.ID
	Mode repo.Mode
	// Edited is set if what lies there may be otherwise than ID has it.
	Edited bool
}

// A Tree is the work tree whose documents are judged.
type Tree interface {
	// Files lists what the index has, sorted by path.
	Files(ctx context.Context) ([]File, error)
	// Read hands over the files as they lie there, of those that are not checked out
	// as the index has them; several at once. Of one that is larger than most there
	// is [ErrTooLarge], or [ErrNotText] if its name says so. The bytes are see's until
	// it returns.
	Read(ctx context.Context, files []File, most int64, see func(i int, content []byte, err error)) error
	// Present says of each path whether anything lies there, tracked or not.
	Present(ctx context.Context, paths []repo.Path) ([]bool, error)
	// Ignored says of each path whether git would ignore it.
	Ignored(ctx context.Context, paths []repo.Path) ([]bool, error)
}

// A Past is the history behind it.
type Past interface {
	// Head is the commit that history is told from, zero while there is none.
	Head() repo.ID
	// History returns what HEAD reaches.
	History(ctx context.Context) (History, error)
	// At returns the content of each place, zero where there was nothing: of a
	// directory its tree.
	At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error)
	// FilesAt lists the files of a commit.
	FilesAt(ctx context.Context, commit repo.ID) ([]File, error)
	// Blobs hands over contents in order. Of one that is not here there is
	// [ErrAbsent], of one that is not read whole [ErrTooLarge].
	Blobs(ctx context.Context, ids []repo.ID, see func(i int, content []byte, err error)) error
	// Changed lists for each commit the paths that it has otherwise than its first
	// parent.
	Changed(ctx context.Context, commits []repo.ID) ([][]repo.Path, error)
	// Departures lists for each commit what it took away from where it was.
	Removals(ctx context.Context, commits []repo.ID) ([][]repo.Removal, error)
}

// A History is the commits that HEAD reaches, and no others.
type History interface {
	// Commit returns what is known of a commit.
	Commit(n repo.CommitNumber) Commit
	// ParentsOf returns the parents of a commit, as far as they are here.
	ParentsOf(n repo.CommitNumber) []repo.CommitNumber
	// Touching lists the commits that changed a path, ascending.
	Touching(path repo.Path) []repo.Touch
	// Below lists every path that ever was below a directory.
	Below(dir repo.Path) []repo.Path
	// Gap says why the history does not go back to the beginning, "" when it does.
	Gap() string
}

// A Commit is one commit, as a reader recognises it.
type Commit struct {
	ID      repo.ID `json:"commit"`
	Date    string  `json:"date,omitempty"` // RFC 3339
	Subject string  `json:"subject"`
}
