package spec

import (
	"context"

	"ken/internal/repo"
)

// A Num is a commit's number in a history: that of a parent is lower than that of
// its child, and a commit keeps its number as long as the history is kept.
type Num int32

// History is what happened, as far as it can be reached from some heads.
type History interface {
	// Len is how many commits there are, numbered from 0.
	Len() Num
	// Find returns a commit's number; ok is false for one that is not there.
	Find(id repo.ID) (n Num, ok bool)
	// Commit returns what is known of a commit.
	Commit(n Num) Commit
	// Marked lists the commits that carry a trailer, ascending.
	Marked() []Num
	// Touching lists the commits that changed a path, ascending.
	Touching(path repo.Path) []Touch
	// Below lists every path that ever was in a directory or below it, "" being
	// the root, sorted.
	Below(dir repo.Path) []repo.Path
	// Moves lists the moves of spec files, by ascending commit.
	Moves() []Move
	// Gap says why the history does not go back to the beginning, "" when it
	// does: nothing can be known then of what lies before.
	Gap() string
}

// A Commit is one commit of a history.
type Commit struct {
	ID       repo.ID
	Parents  []Num
	Date     string // RFC 3339
	Subject  string
	Trailers []repo.Trailer
}

// A Touch is a commit that changed a path.
type Touch struct {
	Commit Num
	Kind   repo.ChangeKind
}

// A Move is a spec file that a commit moved: git finds the two at least half alike.
type Move struct {
	Commit   Num
	From, To repo.Path
	Same     bool // the content moved as it was
}

// Contents knows what lay where.
type Contents interface {
	// At returns the content id of each place, zero where there was nothing.
	At(ctx context.Context, places []Place) ([]repo.ID, error)
}

// A Place is a path in a commit.
type Place struct {
	Commit repo.ID
	Path   repo.Path
}
