// Package survey has a summary of every directory of a repository and decides whether each is fresh.
//
// The summary of a directory is written from its own files and the summaries of its subdirectories, so subdirectories
// always come first. If a subdirectory gets the same text again, the directories above stay fresh. The package decides the
// verdicts, the order of work, who may write, and which answers to store. Package describe writes the texts.
package survey

import (
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// Options tunes a Survey. The zero value is ready to use.
type Options struct {
	Exclude  []string           // globs of directories and files that are left out
	Ranks    map[repo.Path]Rank // .ken and .spec have RankSkip unless it ranks them or a directory in them
	OfCommit bool               // the tree is that of a commit
	// Counts reports whether a change of that grade to a file makes the summary of its directory stale; if nil, all
	// grades but format do.
	Counts func(fresh.Grade) bool
	Now    func() time.Time // the clock; time.Now when nil
	Cache  *Cache           // answers about directories; without it, each question is judged again
	// StaleMentions are the mentions that ken docs last listed as stale, by document. An outline quotes no paragraph
	// that has one.
	StaleMentions map[repo.Path][]string
	// KeepOutlines stores the outlines of changed content. Without it, ken makes them again for each answer.
	KeepOutlines bool
}

// A Survey answers for one tree. Make one per request.
type Survey struct {
	tree  workspace.Tree
	store store.Directories
	opts  Options
}

// New returns the survey of a tree. The store has its summaries.
func New(tree workspace.Tree, store store.Directories, opts Options) *Survey {
	if opts.Counts == nil {
		opts.Counts = func(g fresh.Grade) bool { return g != fresh.GradeFormat }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Survey{tree, store, opts.withDefaults()}
}
