// Package prove replays a history and counts what summaries would have cost and saved in
// it, commit by commit.
//
// It assumes that before the first commit every file and every directory that policy
// admits has a current summary, and that after each commit exactly the stale summaries are
// written again. The rules of staleness are ken's own:
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
// Tokens are estimated by sizes. Where an assumption cannot be neutral, it counts against
// ken; see [Assumed]. The result depends on the history alone: on no clock and no cache.
//
// [Reader] reads the history from git. The caller says which files count, and keeps
// outlines.
package prove

import (
	"cmp"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A History is the commits to replay.
type History struct {
	Before  []Entry  // the tree before the first commit
	Commits []Commit // the oldest first, each on top of the one before it
	Asked   int      // how many commits were requested
	Cut     bool     // a shallow clone has fewer commits
	Whole   bool     // it begins with the first commit of the repository
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
	Changes []Change
}

// A Change is what a commit did to one path.
type Change struct {
	Path     repo.Path
	Old, New File
	Grade    fresh.Grade // of the change, if both count and differ
}

// Assumed are the numbers behind the token estimates.
type Assumed struct {
	BytesPerToken int64 `json:"bytes_per_token"`
	ReadBytes     int64 `json:"read_bytes"`    // the most that is read of one file
	Brief         int64 `json:"brief_tokens"`  // of a brief
	Text          int64 `json:"text_tokens"`   // of the summary of a file or subdirectory
	Apart         int64 `json:"apart_tokens"`  // of rules and tools, per directory
	Answer        int64 `json:"answer_tokens"` // of a directory's new summary
}

// Options are the rules of a replay.
type Options struct {
	Assumed Assumed
	// Counts reports whether a change of that grade makes a summary stale; all but
	// format do when nil.
	Counts func(fresh.Grade) bool
}

// An Outcome is what one commit made stale, and what that would have cost.
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

	Refresh    int64 `json:"refresh_tokens"`   // reading the changed files, and the summaries of the others
	Above      int64 `json:"above_tokens"`     // the part of Refresh for StaleBelow
	Reread     int64 `json:"reread_tokens"`    // reading every file of every stale directory
	Briefs     int64 `json:"brief_tokens"`     // of the directories that it touched
	Touched    int64 `json:"touched_tokens"`   // of the files that it touched, as they were
	Neighbours int64 `json:"neighbour_tokens"` // of all other files in their directories
}

// With is the tokens read with briefs.
func (o *Outcome) With() int64 { return o.Touched + o.Briefs }

// Without is the tokens read without briefs, if all neighbours are read.
func (o *Outcome) Without() int64 { return o.Touched + o.Neighbours }

// Net is the tokens saved if a model writes the summaries, and if an agent without a brief
// reads all neighbours. A loss is negative.
func (o *Outcome) Net() int64 { return o.Neighbours - o.Briefs - o.Refresh }

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
	r := &Report{Commits: Commits{Asked: h.Asked, Cut: h.Cut, Whole: h.Whole}, Assumed: opts.Assumed, Method: method(opts.Assumed)}
	t.describe()
	r.History = make([]Outcome, len(h.Commits))
	for i := range h.Commits {
		r.History[i] = t.apply(&h.Commits[i])
	}
	r.Files, r.Directories = t.files, t.counted
	r.Net.Describe = t.whole()
	r.sum()
	return r
}

// worst returns the places of the known commits with the greatest losses.
func worst(list []Outcome, most int) []int {
	var places []int
	for i := range list {
		if !list[i].Unknown {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(list[a].Net(), list[b].Net()) })
	return places[:min(most, len(places))]
}
