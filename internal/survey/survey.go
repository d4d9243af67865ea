// Package survey keeps a text about every directory of a repository, written
// leaves first, and decides whether each still holds.
//
// The summary of a directory is written from its own files and
// the summaries of its subdirectories, so subdirectories
// always come first. If a subdirectory gets the same text
// again, the directories above stay fresh. The package decides
// the order, the verdicts, the prompts and which answers to
// store. Files come from a [Tree], texts from a [Writer], and
// records go to a store; all three are interfaces.
package survey

import (
	"context"
	"errors"
	"time"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Tree is what is surveyed, as it is at one moment: a work tree, or a commit.
type Tree interface {
	// Commit is what the tree stands on, zero while there is none.
	Commit() repo.ID
	// Files lists what git tracks, sorted by path.
	Files(ctx context.Context) ([]File, error)
	// Read returns a file's content. That of a file with more than most bytes is an
	// error, and so is any other than the one that was listed: [ErrMoved].
	Read(ctx context.Context, f *File, most int) ([]byte, error)
	// Outlines returns what the grammars see in files, in their order.
	Outlines(ctx context.Context, files []*File) ([]Seen, error)
	// Patch returns the patch from an older content to a file. It returns "" if git does not have
	// the older content, or if one of the two is too large or not text.
	Patch(ctx context.Context, f *File, old repo.ID) (string, error)
	// Summaries returns what is said of files, in their order.
	Summaries(ctx context.Context, files []*File) ([]Summary, error)
}

// A File is a tracked file.
type File struct {
	Path     repo.Path
	ID       repo.ID // of its content; zero when that is not known
	Size     int64
	Kind     repo.Kind
	Excluded string // why nobody is asked about it, "" when somebody is
	Problem  string // why its content is not known, "" when it is
}

// Seen is what a grammar saw in a file.
type Seen struct {
	Outline *outline.Outline // nil when no grammar is for it
	Err     error            // [ErrMoved] or [ErrAbsent] when it could not look at the content that was listed
}

// ErrAbsent is in the chain when the content of a file is known by its name alone: it is
// not checked out, and git does not have it here. What is written without it is partial.
var ErrAbsent = errors.New("not checked out, and git does not have it")

// ErrMoved is in the chain when a file no longer has the content that was listed, or
// cannot be read any more: whatever were written now would not be about that content.
var ErrMoved = errors.New("changed while being read")

// Options tunes a Survey. The zero value is ready to use.
type Options struct {
	Exclude []string           // globs of directories and files that are left out
	Ranks   map[repo.Path]Rank // .ken and .spec have RankSkip unless it ranks them or a directory in them
	// Past says that the tree is one of the past, about which nothing is planned any
	// more: a plan that was made for other directories does not hold for it.
	Past bool
	// Counts reports whether a change of that grade to a file makes what was
	// said of its directory stale; all but format do when nil.
	Counts func(fresh.Grade) bool
	Now    func() time.Time // the clock; time.Now when nil
	Memo   Memo             // keeps how directories stood; nothing does when nil
	// StaleMentions are the mentions that ken docs last listed as stale, by document. No own
	// words of a directory come from a paragraph that has one.
	StaleMentions map[repo.Path][]string
	// KeepOutlines stores the outlines that are made again to be shown. Without it they are
	// made for each answer.
	KeepOutlines bool
}

// A Survey answers for one tree. Make one per request.
type Survey struct {
	tree  Tree
	store store.Directories
	opts  Options
}

// New returns the survey of a tree, whose texts are in a store.
func New(tree Tree, store store.Directories, opts Options) *Survey {
	if opts.Counts == nil {
		opts.Counts = func(g fresh.Grade) bool { return g != fresh.GradeFormat }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Survey{tree, store, opts.withDefaults()}
}
