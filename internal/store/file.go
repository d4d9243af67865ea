package store

import (
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A FileRow is the last verified state of one tracked path of one worktree.
type FileRow struct {
	Path     repo.Path
	Kind     repo.Kind
	Mode     repo.Mode
	Content  repo.Content
	Stat     repo.Stat // the file had Content while it had this stat; zero when no stat proves it
	Marks    FileMarks
	Excluded string // why ken asks for no summary of it, "" if it asks for one
	// SummaryBasis is the basis of the summary shown for this path. It equals Content when the
	// summary is fresh, and differs when the summary is stale or the change is
	// uncounted. It is zero when there is no summary.
	// It is stored as its [fresh.Basis.Key].
	// A store corrects it as it puts a row, if it has a record for Content.
	SummaryBasis fresh.Basis
}

// FileMarks say how a row differs from an ordinary one. In an ordinary row, the content is
// the one that the index held, and the md5 and the id are of the same bytes.
type FileMarks uint8

// The marks.
const (
	// MarkRaw: the id is of the bytes on disk, because the path is under a filter
	// driver and the blob says too little about them. While the file is not checked
	// out, the id is of the last bytes that were seen, or the blob's if none were.
	MarkRaw FileMarks = 1 << iota
	// MarkDiffersFromIndex: the file differed from the index when it was verified.
	MarkDiffersFromIndex
	// MarkConverted: the id is of the bytes after git's conversion, and the md5 of
	// the bytes as they are.
	MarkConverted
	// MarkConvertible: the bytes hold line endings, and settings that the row does not
	// contain decide how git converts them.
	MarkConvertible

	// The grade of the change from SummaryBasis to Content, of stale rows: two bits, none
	// for content.
	markFormat
	markBody
	// MarkUncounted: the content changed in a way that the policy does not count, so the
	// summary is as good as fresh.
	MarkUncounted

	// MarkGraded is the mask of the grade.
	MarkGraded = markFormat | markBody

	markInterface = MarkGraded
)

// MarksUnproven are the marks of rows that an unchanged index proves nothing about.
const MarksUnproven = MarkRaw | MarkDiffersFromIndex

// Has reports whether all of n is in m.
func (m FileMarks) Has(n FileMarks) bool { return m&n == n }

// gradeMarks are the marks of each grade.
var gradeMarks = map[fresh.Grade]FileMarks{
	fresh.GradeFormat:    markFormat,
	fresh.GradeBody:      markBody,
	fresh.GradeInterface: markInterface,
	fresh.GradeContent:   0,
}

// MarksOfGrade returns the marks that record a grade.
func MarksOfGrade(g fresh.Grade) FileMarks { return gradeMarks[g] }

// Grade returns how much the content of a stale row changed since its summary.
func (m FileMarks) Grade() fresh.Grade {
	for grade, mark := range gradeMarks {
		if m&MarkGraded == mark {
			return grade
		}
	}
	return fresh.GradeContent
}

// A Verification is the result of a completed verification of a worktree.
type Verification struct {
	// Generation grows with every change to the worktree's rows and verification. A
	// verification to be stored names the generation that it was made from; a store
	// drops it if the generation is another one.
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

// Same reports whether two verifications prove the same, at whatever time and generation.
func (v Verification) Same(o Verification) bool {
	v.At, v.Generation = o.At, o.Generation
	return v == o
}

// FileCounts counts rows by the state of their summaries.
type FileCounts struct {
	Files, Fresh, Stale, None, Excluded int
}

// Add counts a row n times; n may be negative. A summary of unknown content counts as
// stale, because no check can prove it.
func (t *FileCounts) Add(r FileRow, n int) {
	t.Files += n
	switch {
	case r.Excluded != "":
		t.Excluded += n
	case r.SummaryBasis.IsZero():
		t.None += n
	case r.SummaryBasis.Matches(r.Content), r.Marks.Has(MarkUncounted):
		t.Fresh += n
	default:
		t.Stale += n
	}
}

// FileChanges are the changes of one transaction.
type FileChanges struct {
	// Records to store; one that is stored already changes nothing. Rows of any
	// worktree whose content is a record's basis come to be about it.
	Records []fresh.Record
	Put     []FileRow
	Delete  []repo.Path
	// Verification is the verification to set, nil to leave it as it is.
	Verification *Verification
	// Worktrees that exist, so that rows of others may be removed; nil removes none.
	Worktrees []string
}

// IsZero reports whether the changes would write nothing.
func (c FileChanges) IsZero() bool {
	return len(c.Records) == 0 && len(c.Put) == 0 && len(c.Delete) == 0 && c.Verification == nil
}
