package store

import (
	"bytes"
	"context"
	"iter"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// Files stores the rows of worktrees and the records about files. A store that does not
// exist yet is an empty one; only Commit creates it.
type Files interface {
	// LastVerification returns the last verification of a worktree, ok false if none;
	// its Generation is right either way.
	LastVerification(ctx context.Context, worktree string) (v Verification, ok bool, err error)
	// Rows yields a worktree's rows in byte order of their paths.
	Rows(ctx context.Context, worktree string) iter.Seq2[FileRow, error]
	// RowsOf returns the rows of the given paths, those that exist.
	RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]FileRow, error)
	// Exceptions returns the rows with any of the marks, and those whose summary is
	// about other content. MarksUnproven are found fastest.
	Exceptions(ctx context.Context, worktree string, marks FileMarks) (map[repo.Path]FileRow, error)
	// Counts counts a worktree's rows by the state of their summaries.
	Counts(ctx context.Context, worktree string) (FileCounts, error)
	// NewestBases returns, for each content that some record was written from, the
	// key of the newest such record's basis. Of records of the same time, the one with
	// the higher id is the newest.
	NewestBases(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error)
	// Newest returns, for each content that Known knows, the newest record.
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
	// Record finds a record by its id.
	Record(ctx context.Context, id fresh.Digest) (r fresh.Record, ok bool, err error)
	// HeadersAt returns the records that were written at each path, newest first: by
	// time, and where that is the same by id. Paths without one are left out.
	HeadersAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]RecordHeader, error)
	// PathsSince lists the paths, each once, of the records that came after a mark,
	// and returns the mark of the newest record. Every record came after the mark 0.
	PathsSince(ctx context.Context, mark int64) (paths []repo.Path, now int64, err error)
	// NewestAt returns the first of the records that HeadersAt lists for a path.
	NewestAt(ctx context.Context, path repo.Path) (r fresh.Record, ok bool, err error)
	// Commit makes changes durable, all or none. Their verification is set
	// only if the generation is still the one it names, and if still, called inside
	// the transaction, returns true; a nil still counts as true. The other changes are
	// made in any case. Changed rows without a verification that includes them
	// make the stored one uncertain: it is no longer clean and names no index.
	Commit(ctx context.Context, worktree string, c FileChanges, still func() (bool, error)) error
}

// A RecordHeader is the part of a record that ken needs to choose among those of a path.
type RecordHeader struct {
	Basis fresh.Basis
	At    time.Time
	ID    fresh.Digest
}

// Newer reports whether h was written after o; of two written at the same time, the one
// with the higher id is newer.
func (h RecordHeader) Newer(o RecordHeader) bool {
	if order := h.At.Compare(o.At); order != 0 {
		return order > 0
	}
	return bytes.Compare(h.ID[:], o.ID[:]) > 0
}
