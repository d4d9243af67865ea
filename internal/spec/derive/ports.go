package derive

import (
	"context"

	"ken/internal/git"
	"ken/internal/outline"
	"ken/internal/repo"
)

var (
	_ History  = (*git.History)(nil)
	_ Contents = (*git.Contents)(nil)
)

// History is the history of some heads. [git.History] implements it. It is an interface because the property tests
// derive facts from a second implementation: a generated history that is small enough for a naive model.
type History interface {
	// Len returns the number of commits. Their numbers start at 0, and parents have lower numbers.
	Len() repo.CommitNumber
	// Find returns the number of a commit; ok is false if the history does not have it.
	Find(id repo.ID) (n repo.CommitNumber, ok bool)
	// Commit returns the metadata of a commit.
	Commit(n repo.CommitNumber) repo.HistoryCommit
	// Parents returns the parents of all commits. It is much cheaper than Commit.
	Parents() repo.ParentTable
	// Marked lists the commits with an ack, ascending. It may list others.
	Marked() []repo.CommitNumber
	// Touching lists the commits that changed a path, ascending.
	Touching(path repo.Path) []repo.Touch
	// Since lists the paths that commits from a number on changed, with these changes. It does not scan the older
	// history.
	Since(first repo.CommitNumber) []repo.PathTouches
	// Below lists, sorted, every path below a directory that any commit had. The root is "".
	Below(dir repo.Path) []repo.Path
	// Moves lists the moves of spec files, by ascending commit.
	Moves() []repo.Move
	// Gap returns why the history does not go back to the first commit, "" if it does. Facts that depend on older
	// commits are unknown.
	Gap() string
}

// Contents returns blob ids and the origin of merged files. [git.Contents] implements it; the property tests have
// a second implementation, as for History.
type Contents interface {
	// At returns the blob id at each place, zero if the path does not exist.
	At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error)
	// Merged reports for each file of a merge commit whether git or a person made its content. An error means that
	// it is unknown for all of them.
	Merged(ctx context.Context, files []repo.MergedFile) ([]repo.MergeVerdict, error)
}

// An OutlineReader returns the outline of each content, nil if there is no grammar for it or git does not have the
// content. An error means that no outline could be read this time.
type OutlineReader func(ctx context.Context, files []*repo.File) ([]*outline.Outline, error)
