// Package registry keeps one summary per tracked file, and decides whether each
// still speaks of the bytes that are there.
//
// It decides the entry state of a session, the verdict of every path,
// the content that a summary is stored for, and which summaries are
// missing. It gets facts through three interfaces: [Git] (tracked
// files, HEAD), [Files] (the work tree) and a store (rows and
// records). It starts no process, opens no file and uses no SQL.
package registry

import (
	"context"
	"time"

	"ken/internal/repo"
	"ken/internal/store"
)

// A Registry answers for one work tree. Make one per request: it reads the
// situation once, and every answer it gives is about that reading.
type Registry struct {
	git   Git
	files Files
	store store.Files
	opts  Options

	snap   *repo.Snapshot            // taken with the first question
	former map[repo.Path][]repo.Path // see formerPaths; nil before the first question
}

// Options tunes a Registry. The zero value is ready to use.
type Options struct {
	Policy Policy           // what counts; the zero Policy is the default one
	Author func() string    // who writes, asked only when something is written; "unknown" when nil
	Recipe string           // how texts come about; "hand" when empty
	Now    func() time.Time // the clock; time.Now when nil
	// Progress hears how many of how many files have been read; nil when nobody
	// is listening.
	Progress func(done, total int)
	// Worktrees lists the worktrees that exist, so that what is kept of others
	// may go; nil keeps everything.
	Worktrees []string
	// Seen says which content of a path its author saw last, for texts that come without
	// a word about that; zero when it is not known, and nil when nobody remembers.
	Seen func(repo.Path) repo.ID
	// Grader says how far a file has moved from what its summary was written from;
	// when nil, nothing finer is known than that it did.
	Grader Grader
}

// New returns a registry that asks the given three.
func New(git Git, files Files, store store.Files, opts Options) *Registry {
	if opts.Author == nil {
		opts.Author = func() string { return "unknown" }
	}
	if opts.Recipe == "" {
		opts.Recipe = "hand"
	}
	if opts.Progress == nil {
		opts.Progress = func(int, int) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Registry{git: git, files: files, store: store, opts: opts}
}

// snapshot takes the one reading that everything is judged against.
func (r *Registry) snapshot(ctx context.Context) (*repo.Snapshot, error) {
	if r.snap == nil {
		snap, err := r.git.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		r.snap = snap
	}
	return r.snap, nil
}
