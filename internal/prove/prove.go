// Package prove replays a history and counts what kept knowledge would have cost and
// saved in it, commit by commit.
//
// It assumes that before the first commit there was a true text about every file and
// every directory that policy wants one about, and that after each commit exactly what
// had gone stale was written anew. Staleness goes by the rules that ken lives by:
//
//   - A file's text belongs to its content. A content that was there before, here or
//     elsewhere, brings its text along: a move, a copy or a revert costs nothing.
//   - Other bytes make a text stale if the grade of the change counts.
//   - A directory's text was written from its files and from its children's texts. It is
//     stale by itself if a file came, went, or changed by a grade that counts; and stale
//     from below if only what is said of a child has changed. A text that was once
//     written from exactly what is there holds again.
//   - A text that is written anew counts as other words, so what is above it is stale all
//     the way up. A writer who answers "keep" would end that; how often that happens no
//     history tells, so the count is an upper bound.
//
// What is counted in tokens is an estimate by sizes, in favour of neither side where that
// is possible and against kept knowledge where it is not; see [Assumed] and [Method]. The
// answer follows from the history alone: no clock, no cache, no guess.
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

// A History is what is replayed.
type History struct {
	Before  []Entry  // what was there before the first commit
	Commits []Commit // the oldest first, each on top of the one before it
	Asked   int      // how many commits were wanted
	Cut     bool     // it is a shallow clone's, which has no more
	Whole   bool     // there is no more: it begins with the first commit of all
}

// An Entry is a file in a tree.
type Entry struct {
	Path repo.Path
	File
}

// A File is what lies at a path. The zero File is nothing that counts.
type File struct {
	ID     repo.ID // of its content
	Size   int64
	Counts bool // policy wants a text about it
	Absent bool // its content is not here, so neither is what follows from it
}

// A Commit is one step.
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
	Grade    fresh.Grade // how far apart they are, where both count and differ
}

// Assumed is what tokens are estimated by.
type Assumed struct {
	BytesPerToken int64 `json:"bytes_per_token"`
	ReadBytes     int64 `json:"read_bytes"`    // the most that is read of one file
	Brief         int64 `json:"brief_tokens"`  // of a brief
	Text          int64 `json:"text_tokens"`   // of a text about a file or a child
	Apart         int64 `json:"apart_tokens"`  // of rules and tools, for each directory
	Answer        int64 `json:"answer_tokens"` // of a directory's new text
}

// Options say by which rules a history is replayed.
type Options struct {
	Assumed Assumed
	// Counts reports whether a change of that grade makes a text stale; all but
	// format do when nil.
	Counts func(fresh.Grade) bool
}

// An Outcome is what one commit did to what was known, and what it would have cost.
type Outcome struct {
	Commit  repo.ID `json:"commit"`
	Subject string  `json:"subject"`
	Merge   bool    `json:"merge"`
	// Unknown says that contents are missing that it would take to tell; what is
	// counted of such a commit is in no sum.
	Unknown bool `json:"unknown"`

	Texts   int    `json:"texts"`   // about files and directories, that there were before it
	Grades  Grades `json:"grades"`  // of the files whose bytes changed
	Added   int    `json:"added"`   // files with a content that is new
	Carried int    `json:"carried"` // files with a content that was there before
	Removed int    `json:"removed"`

	StaleFiles int `json:"stale_files"`
	ByByte     int `json:"by_byte"`     // texts that a registry by path and byte would have lost
	StaleSelf  int `json:"stale_self"`  // directories whose own files made them stale
	StaleBelow int `json:"stale_below"` // directories above those, and above what came and went
	NewDirs    int `json:"new_directories"`

	Refresh    int64 `json:"refresh_tokens"`   // what changed is read, of the rest the texts
	Above      int64 `json:"above_tokens"`     // of these, for directories that are stale from below alone
	Reread     int64 `json:"reread_tokens"`    // every file of every stale directory is read
	Briefs     int64 `json:"brief_tokens"`     // of the directories that it touched
	Touched    int64 `json:"touched_tokens"`   // of the files that it touched, as they were
	Neighbours int64 `json:"neighbour_tokens"` // of all other files in their directories
}

// With is what is read with briefs.
func (o *Outcome) With() int64 { return o.Touched + o.Briefs }

// Without is what is read without, if that is all neighbours.
func (o *Outcome) Without() int64 { return o.Touched + o.Neighbours }

// Net is what is saved, if without a brief all neighbours had been read, and if a model
// keeps the texts. It is negative where that costs more than it saves.
func (o *Outcome) Net() int64 { return o.Neighbours - o.Briefs - o.Refresh }

// Stale is how many texts do not hold any more.
func (o *Outcome) Stale() int { return o.StaleFiles + o.StaleSelf + o.StaleBelow }

// Valid reports whether everything that was known is still true, and nothing is to be
// written.
func (o *Outcome) Valid() bool {
	return !o.Unknown && o.Stale()+o.NewDirs+o.Added == 0
}

// Grades counts changes by how far they went.
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

// Replay goes through a history and reports what came of it.
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

// worst returns the places of the known commits in which knowledge cost most beyond what
// it saved.
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
