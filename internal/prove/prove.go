// Package prove tests ken on a repository's own history. It answers three questions: would
// ken find have found the files that a commit changed, how long does knowledge last, and how
// large is a brief?
//
// The answer to the second question comes from a replay of the last commits. It assumes that
// before the first commit every file and every directory that policy admits has a current
// summary, and that after each commit exactly the stale summaries are written again. The rules
// of staleness are ken's own:
//
//   - A file's summary belongs to its content. A content that existed before, here or
//     elsewhere, brings its summary along: a move, a copy or a revert costs nothing.
//   - Other bytes make a summary stale if the grade of the change counts.
//   - A directory's summary is written from its files and its subdirectories' summaries. It
//     is stale if a file was added, removed, or changed by a grade that counts, or if only
//     the summary of a subdirectory changed. A summary that was once written from
//     exactly this content is fresh again.
//   - A summary that is written again counts as a different text, so all directories above it
//     are stale. A writer may answer "keep" instead. No history tells how often, so the count
//     is an upper bound.
//
// Where an assumption cannot be neutral, it counts against ken. The result depends on no
// clock and no cache.
//
// [Reader] reads the history from git. The caller says which files count, keeps outlines, and
// puts the questions of [Tasks] to the search index.
package prove

import (
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A History is the commits to replay.
type History struct {
	Before  []Entry  // the tree before the first commit
	Commits []Commit // the oldest first, each on top of the one before it
	// Mentions are the paths that documents mention before the first commit or, if there is
	// nothing before it, in the middle of the history. Followed counts the commits after that.
	Mentions []Mention
	Followed int
	Asked    int  // how many commits were requested
	Cut      bool // a shallow clone has fewer commits
	Whole    bool // it begins with the first commit of the repository
}

// An Entry is a file in a tree.
type Entry struct {
	Path repo.Path
	File
}

// A File is the file at a path. The zero File is none, or one that does not count.
type File struct {
	ID     repo.ID // of its content
	Size   int64
	Counts bool // policy wants a summary of it
	Absent bool // git does not have its content
}

// A Commit is one step of a history.
type Commit struct {
	ID      repo.ID
	Subject string
	Merge   bool
	Parent  repo.ID // the first one; zero if there is none
	// Task is the subject to ask ken find with: of a merge that of the commit that it merged.
	Task    string
	Changes []Change
}

// A Change is what a commit did to one path.
type Change struct {
	Path     repo.Path
	Old, New File
	Grade    fresh.Grade // of the change, if both count and differ
}

// Options are the rules of a replay.
type Options struct {
	// Counts reports whether a change of that grade makes a summary stale; all but
	// format do when nil.
	Counts func(fresh.Grade) bool
}

// An Outcome is what one commit made stale.
type Outcome struct {
	Commit  repo.ID `json:"commit"`
	Subject string  `json:"subject"`
	Merge   bool    `json:"merge"`
	// Unknown says that git lacks contents that it takes to tell. The figures of such a
	// commit are in no total.
	Unknown bool `json:"unknown"`

	Texts   int    `json:"texts"`   // summaries before it, of files and directories
	Grades  Grades `json:"grades"`  // of the files whose bytes changed
	Added   int    `json:"added"`   // files with a content that is new
	Carried int    `json:"carried"` // files with a content that was there before
	Removed int    `json:"removed"`

	StaleFiles int `json:"stale_files"`
	ByByte     int `json:"by_byte"`     // summaries that a registry by path and checksum would have lost
	StaleSelf  int `json:"stale_self"`  // directories whose own files changed
	StaleBelow int `json:"stale_below"` // directories of which only a subdirectory changed
	NewDirs    int `json:"new_directories"`
}

// Stale is how many summaries are stale.
func (o *Outcome) Stale() int { return o.StaleFiles + o.StaleSelf + o.StaleBelow }

// Valid reports whether no summary is stale or missing.
func (o *Outcome) Valid() bool {
	return !o.Unknown && o.Stale()+o.NewDirs+o.Added == 0
}

// Grades counts changes by grade.
type Grades struct {
	Format    int `json:"format"`
	Body      int `json:"body"`
	Interface int `json:"interface"`
	Content   int `json:"content"`
}

// Sum is how many changes there were.
func (g Grades) Sum() int { return g.Format + g.Body + g.Interface + g.Content }

func (g *Grades) count(grade fresh.Grade) {
	switch grade {
	case fresh.GradeFormat:
		g.Format++
	case fresh.GradeBody:
		g.Body++
	case fresh.GradeInterface:
		g.Interface++
	default:
		g.Content++
	}
}

// Add returns the sum of both.
func (g Grades) Add(h Grades) Grades {
	return Grades{g.Format + h.Format, g.Body + h.Body, g.Interface + h.Interface, g.Content + h.Content}
}

// Replay replays a history.
func Replay(h History, opts Options) *Report {
	if opts.Counts == nil {
		opts.Counts = func(g fresh.Grade) bool { return g != fresh.GradeFormat }
	}
	t := newTree(opts)
	for _, e := range h.Before {
		t.put(e.Path, e.File)
		t.texts[e.ID] = t.texts[e.ID] || e.Counts
	}
	t.describe()
	t.observe(h.Before)
	r := &Report{Commits: Commits{Asked: h.Asked, Cut: h.Cut, Whole: h.Whole}, Method: method()}
	r.History = make([]Outcome, len(h.Commits))
	for i := range h.Commits {
		t.commit = i + 1
		r.History[i] = t.apply(&h.Commits[i])
	}
	r.Files, r.Directories = t.files, t.counted
	r.sum()
	r.Lasting.Files = t.fileTexts.lasting(len(h.Commits))
	r.Lasting.Directories = t.dirTexts.lasting(len(h.Commits))
	r.Lasting.Mentions = lastingMentions(h.Mentions, h.Followed)
	return r
}
