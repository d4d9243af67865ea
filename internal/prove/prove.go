// Package prove tests ken on the history of a repository. It answers three questions: would ken find have found
// the files that a commit changed, how long do summaries stay fresh, and how large is a brief?
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
// [Prover] reads the history from git, decides with the policy which files count, and runs [Tasks] against the search
// index. [Replay] computes the result from the history alone.
package prove

import (
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A History is the list of commits to replay.
type History struct {
	Before  []Entry  // the tree before the first commit
	Commits []Commit // the oldest first, each a child of the one before it
	// Mentions are the paths in documents before the first commit or, if there is nothing before it, in the middle
	// of the history. Followed is the number of commits after that.
	Mentions []Mention
	Followed int
	Asked    int  // the number of requested commits
	Cut      bool // a shallow clone has fewer commits
	Whole    bool // the history begins with the first commit of the repository
}

// An Entry is a file in a tree.
type Entry struct {
	Path repo.Path
	File
}

// A File is the file at a path. The zero File is no file, or one that does not count.
type File struct {
	ID     repo.ID // of its content
	Size   int64
	Counts bool // the policy requires a summary
	Absent bool // git does not have its content
}

// A Commit is one step of a history.
type Commit struct {
	ID      repo.ID
	Subject string
	Merge   bool
	Parent  repo.ID // the first one; zero if there is none
	// Task is the query for ken find: the subject, or for a merge the subject of the merged commit.
	Task    string
	Changes []Change
}

// A Change is the change of one path by a commit.
type Change struct {
	Path     repo.Path
	Old, New File
	Grade    fresh.Grade // of the change, if both count and differ
}

// Options are the rules of a replay.
type Options struct {
	// Counts reports whether a change of this grade makes a summary stale. If nil, all grades but format do.
	Counts func(fresh.Grade) bool
}

// An Outcome is the result of one commit: the summaries that it made stale.
type Outcome struct {
	Commit  repo.ID `json:"commit"`
	Subject string  `json:"subject"`
	Merge   bool    `json:"merge"`
	// Unknown is set if git lacks contents that the result depends on. The figures of such a commit are in no
	// total.
	Unknown bool `json:"unknown"`

	Texts   int    `json:"texts"`   // summaries before it, of files and directories
	Grades  Grades `json:"grades"`  // of the files whose bytes changed
	Added   int    `json:"added"`   // files with new content
	Carried int    `json:"carried"` // files with content that existed before
	Removed int    `json:"removed"`

	StaleFiles int `json:"stale_files"`
	ByChecksum int `json:"by_byte"`     // summaries that a registry by path and checksum would have lost
	StaleSelf  int `json:"stale_self"`  // directories whose own files changed
	StaleBelow int `json:"stale_below"` // directories in which only a subdirectory changed
	NewDirs    int `json:"new_directories"`
}

// Stale returns the number of stale summaries.
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

// Sum returns the number of changes.
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
	t.writeAll()
	t.followAll(h.Before)
	r := &Report{Commits: Commits{Asked: h.Asked, Cut: h.Cut, Whole: h.Whole}, Method: method()}
	r.History = make([]Outcome, len(h.Commits))
	for i := range h.Commits {
		t.commit = i + 1
		r.History[i] = t.apply(&h.Commits[i])
	}
	r.Files, r.Directories = t.files, t.counted
	r.sum()
	r.Lifetimes.Files = t.fileTexts.lifetime(len(h.Commits))
	r.Lifetimes.Directories = t.dirTexts.lifetime(len(h.Commits))
	r.Lifetimes.Mentions = mentionLifetime(h.Mentions, h.Followed)
	return r
}
