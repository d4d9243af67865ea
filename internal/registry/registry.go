// Package registry has one summary for each tracked file, and decides whether each still describes the bytes of the
// file.
//
// It decides the entry state of a session, the verdict of every path, the content that a summary is stored for, and
// which summaries are missing. It reads through three interfaces: [Git] (tracked files, HEAD), [Files] (the work
// tree) and a store (rows and records). It starts no process, opens no file and uses no SQL.
package registry

import (
	"context"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Registry answers questions about one work tree. Make one for each request: it reads the repository once, and
// all its answers are about that state.
type Registry struct {
	git   Git
	files Files
	store store.Files
	opts  Options

	snap   *repo.Snapshot            // nil before the first call
	former map[repo.Path][]repo.Path // see formerPaths; nil before the first call
}

// Options configure a Registry. The zero value is ready to use.
type Options struct {
	Policy Policy           // which files and grades count; the zero Policy is the default
	Author func() string    // returns the author, called only for a write; "unknown" if nil
	Recipe string           // how texts are written; "hand" if empty
	Now    func() time.Time // the clock; time.Now if nil
	// Progress is called with the number of files read and of all to read; it may be nil.
	Progress func(done, total int)
	// Worktrees lists the existing worktrees, so that rows of others may be deleted; nil deletes none.
	Worktrees []string
	// Seen returns the content of a path that the author saw last, for updates without Read; zero if it is
	// unknown. It may be nil.
	Seen func(repo.Path) repo.ID
	// Grade grades changes, in their order; see [Grades]. If nil, every change has the grade content.
	Grade func(ctx context.Context, changes []ContentChange) ([]fresh.Grade, error)
}

// New returns a registry that reads through these three.
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

// snapshot returns the snapshot for all answers.
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
