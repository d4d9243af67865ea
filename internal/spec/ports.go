package spec

import (
	"context"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A HistorySource is the history behind a work tree.
type HistorySource interface {
	Head(ctx context.Context) (repo.Head, error)
	// Mainline returns the branch that is canonical, and its commit.
	Mainline(ctx context.Context) (name string, commit repo.ID, err error)
	// History returns what can be reached from the heads.
	History(ctx context.Context, heads []repo.ID) (History, error)
	Contents() Contents
	Outlines
	// SpecsAt returns the spec files of a commit.
	SpecsAt(ctx context.Context, commit repo.ID) (Set, error)
	// Differ lists the paths that two commits have otherwise.
	Differ(ctx context.Context, a, b repo.ID) ([]repo.Path, error)
	// Blobs returns contents by their ids.
	Blobs(ctx context.Context, ids []repo.ID) ([][]byte, error)
	// Worktrees lists the checkouts of the repository.
	Worktrees(ctx context.Context) ([]Worktree, error)
	// View names how git tells histories: another name, and the same commits may
	// have other parents.
	View(ctx context.Context) (string, error)
	// Stored reports whether git would store these bytes as that content, or would
	// but for CRLF at the ends of lines.
	Stored(content []byte, id repo.ID) bool
	// Blob names these bytes as git would, if it stored them as they are.
	Blob(content []byte) repo.ID
	// Lines counts what commits did to paths, each against its first parent; for
	// what one of them moved, by where to.
	Lines(ctx context.Context, commits []repo.ID, paths []repo.Path) (map[repo.ID]map[repo.Path]repo.LineCount, error)
	// Patch returns what a commit did to paths.
	Patch(ctx context.Context, commit repo.ID, paths []repo.Path) (string, error)
	// Resolve returns the commit that a revision means; ok is false for none.
	Resolve(ctx context.Context, rev string) (commit repo.ID, ok bool, err error)
	// Pending returns what is about to be committed on top of a commit.
	Pending(ctx context.Context, head repo.ID) (repo.PendingCommit, error)
	// CommitEmpty makes a commit on top of HEAD that changes nothing, and moves
	// HEAD to it, unless HEAD is not at parent any more.
	CommitEmpty(ctx context.Context, parent repo.ID, message string) (repo.ID, error)
}

// A Memo keeps one answer of each kind for a work tree, until the next one. What it
// holds may be gone or broken at any time.
type Memo interface {
	// Load returns what was saved last, nil for nothing.
	Load(kind string) []byte
	Save(kind string, answer []byte)
	// Maker names the program that answers: another one may answer otherwise.
	Maker() string
}

// History is what happened, as far as it can be reached from some heads.
type History interface {
	// Len is how many commits there are, numbered from 0.
	Len() repo.CommitNumber
	// Find returns a commit's number; ok is false for one that is not there.
	Find(id repo.ID) (n repo.CommitNumber, ok bool)
	// Commit returns what is known of a commit.
	Commit(n repo.CommitNumber) repo.HistoryCommit
	// Parents returns the parents of all commits, which costs a fraction of what
	// Commit does.
	Parents() repo.ParentTable
	// Marked lists the commits that carry an ack, ascending; it may list others.
	Marked() []repo.CommitNumber
	// Touching lists the commits that changed a path, ascending.
	Touching(path repo.Path) []repo.Touch
	// Since lists the paths that commits from a number on changed, with those
	// changes. What came last is told without a look at all that was before.
	Since(first repo.CommitNumber) []repo.PathTouches
	// Below lists every path that ever was in a directory or below it, "" being
	// the root, sorted.
	Below(dir repo.Path) []repo.Path
	// Moves lists the moves of spec files, by ascending commit.
	Moves() []repo.Move
	// Gap says why the history does not go back to the beginning, "" when it
	// does: nothing can be known then of what lies before.
	Gap() string
}

// Contents knows what lay where.
type Contents interface {
	// At returns the content id of each place, zero where there was nothing.
	At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error)
	// Merged says of each file of a merge commit who made its content. An error means
	// that it could not say so of any of them.
	Merged(ctx context.Context, files []repo.MergedFile) ([]repo.MergeVerdict, error)
	// MergeKeeps says of some paths whether a merge of a branch into main would leave them
	// as main has them. It leaves out paths of which it cannot say it.
	MergeKeeps(ctx context.Context, main, branch repo.ID, paths []repo.Path) (map[repo.Path]bool, error)
}

// A Preparer is contents that can get ready for the first question.
type Preparer interface {
	// Prepare returns at once. What it returns is called when no more questions
	// follow.
	Prepare(ctx context.Context) (release func())
}

// Outlines are what grammars see in contents.
type Outlines interface {
	// Outlines returns the outline of each content, nil where no grammar could read
	// it or it is not here. An error means that nobody could look: another time they
	// may be there.
	Outlines(ctx context.Context, shapes []Shape) ([]*outline.Outline, error)
}

// A Shape is a content that is to be outlined, under the name that tells its language.
type Shape struct {
	Path repo.Path
	ID   repo.ID
}
