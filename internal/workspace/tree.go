package workspace

import (
	"context"
	"errors"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A Tree is the tracked files of a work tree at one moment, or of a commit. Package tree has both.
type Tree interface {
	// Commit is the commit of the tree, or HEAD for a work tree; zero without a commit.
	Commit() repo.ID
	// Files lists the tracked files with their kinds and sizes, sorted by path.
	Files(ctx context.Context) ([]repo.File, error)
	// Read returns the content of a file. It fails if the file has more than limit bytes, and with [ErrChanged] if
	// it no longer has the content that Files listed.
	Read(ctx context.Context, f *repo.File, limit int) ([]byte, error)
	// Outlines returns the outlines of files, in their order.
	Outlines(ctx context.Context, files []*repo.File) ([]OutlineResult, error)
	// Patch returns the patch from an older content to a file. It returns "" if git does not have the older content,
	// or if one of the two is too large or not text.
	Patch(ctx context.Context, f *repo.File, old repo.ID) (string, error)
	// Summaries returns the summaries of files, in their order.
	Summaries(ctx context.Context, files []*repo.File) ([]Summary, error)
}

// OutlineResult is the outline of a file of a tree.
type OutlineResult struct {
	Outline *outline.Outline // nil without one
	Err     error            // [ErrChanged] or [ErrAbsent] if the listed content cannot be read
}

// A Summary is the summary of a file of a tree.
type Summary struct {
	Text  string
	State fresh.State
}

// LacksContent is the reason why nothing is known about a content that git does not have in this clone.
const LacksContent = "git lacks the content"

// ErrAbsent means that the content of a file cannot be read: the file is not checked out, and git does not have its
// content in this clone. A summary that is written without it is partial.
var ErrAbsent = errors.New("not checked out, and " + LacksContent)

// ErrChanged means that a file no longer has the content that was listed, so a summary would be about another content.
var ErrChanged = errors.New("changed while being read")

// The values of [repo.File.Problem] for files of a commit.
const (
	// NotComparable means that a filter makes the bytes in the work tree, so a summary that was written from them
	// cannot be compared with the content that git stores.
	NotComparable = "not_comparable_with_a_commit"
	// NotInClone means that git does not have the content in this clone.
	NotInClone = "not_in_this_clone"
)
