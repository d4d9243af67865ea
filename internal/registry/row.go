package registry

import (
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Row is what was last verified about one tracked path of one worktree.
type Row struct {
	Path     repo.Path
	Kind     repo.Kind
	Mode     repo.Mode
	Content  repo.Content
	Stat     repo.Stat // vouches for Content; zero when nothing does
	Marks    Marks
	Excluded string // why nobody is asked to summarise it, "" if it is wanted
	// About is the basis of the text shown for this path: it holds for Content
	// when the text is fresh and not when it is stale or spared; zero when there is
	// none.
	// It is kept as its [fresh.Basis.Key].
	// A store corrects it as a row is put, should a record for Content exist.
	About fresh.Basis
}

// Marks say in which ways a row is out of the ordinary, which is that its content
// is what the index held, and that its md5 and id are of the same bytes.
type Marks uint8

// The marks.
const (
	// Raw content: the id is of the bytes on disk, because the path is under a
	// filter driver and its blob says too little about them. While it is not checked
	// out, the id is of the bytes that were there last, the blob's when nobody saw any.
	Raw Marks = 1 << iota
	// Astray rows were not as the index had it when they were verified.
	Astray
	// Converted content: the id is of what git makes of the bytes, and the md5
	// of the bytes as they are.
	Converted
	// Convertible content: the bytes hold line endings, and settings that no row
	// knows of decide what git makes of them.
	Convertible

	// How far Content has moved from what the text is about, of stale rows: two bits,
	// none for content.
	gradedFormat
	gradedBody
	// Spared rows have moved in a way that the policy does not count: their text is
	// as good as fresh.
	Spared

	graded          = gradedFormat | gradedBody
	gradedInterface = graded
)

// Exceptional are the marks of rows that an unchanged index proves nothing about.
const Exceptional = Raw | Astray

// Has reports whether all of n is in m.
func (m Marks) Has(n Marks) bool { return m&n == n }

// A Baseline is what a completed verification proved.
type Baseline struct {
	// Generation grows with every change to the worktree's rows and baseline. One
	// to be set names the generation it was made from, and lands on no other.
	Generation int64

	Head   repo.ID // last_verified_sha; zero when HEAD was unborn
	Tree   repo.ID // of Head
	Index  repo.ID // tree that the index would have written; zero when it did not say
	Clean  bool    // index and work tree were Head's, and no flag hid any of it
	Policy string  // digest of the policy that the rows were judged by
	Raw    int     // rows matched on their raw bytes
	// Records is the mark of the newest record that the rows were judged with. A store
	// may forget it: the rows are then judged again.
	Records  int64
	Upstream repo.Upstream
	At       time.Time
}

// A Tally counts rows by the state of their summaries.
type Tally struct {
	Files, Fresh, Stale, None, Excluded int
}

// Add counts a row n times; n may be negative. A text about content that is not
// known counts as stale: nothing vouches for it.
func (t *Tally) Add(r Row, n int) {
	t.Files += n
	switch {
	case r.Excluded != "":
		t.Excluded += n
	case r.About.IsZero():
		t.None += n
	case r.About.Holds(r.Content), r.Marks.Has(Spared):
		t.Fresh += n
	default:
		t.Stale += n
	}
}

// A Change is one transaction's worth of writing.
type Change struct {
	// Records to keep; one that is kept already changes nothing. Rows of any
	// worktree whose content is a record's basis come to be about it.
	Records []fresh.Record
	Put     []Row
	Delete  []repo.Path
	// Baseline to set, nil to leave it as it is.
	Baseline *Baseline
	// Worktrees that exist, so that rows of others may go; nil to leave them.
	Worktrees []string
}

// IsZero reports whether the change would write nothing.
func (c Change) IsZero() bool {
	return len(c.Records) == 0 && len(c.Put) == 0 && len(c.Delete) == 0 && c.Baseline == nil
}
