package store

import (
	"context"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// Directories stores the records about directories. A store that does not exist yet is an
// empty one.
type Directories interface {
	// Latest returns the newest records of each directory: the newest outline, and
	// the newest summary of any other recipe.
	Latest(ctx context.Context) (map[repo.Path][]*DirRecord, error)
	// DirRecordsByBasis returns the newest records that were written from exactly one
	// of the given bases, by the digest of the basis.
	DirRecordsByBasis(ctx context.Context, bases []fresh.Digest) (map[fresh.Digest][]*DirRecord, error)
	// DirRecordsByVersion is DirRecordsByBasis for versions of directories: it returns records that
	// were written at that path, from that basis.
	DirRecordsByVersion(ctx context.Context, places []DirVersion) (map[DirVersion][]*DirRecord, error)
	// PastDirRecords returns the summaries of each directory that a model, an agent or a
	// person wrote, from any basis, newest first; no more than MaxPastRecords each.
	PastDirRecords(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*DirRecord, error)
	// DirRecord returns the record with an id, nil when there is none.
	DirRecord(ctx context.Context, id fresh.Digest) (*DirRecord, error)
	// SaveDirRecords makes records durable. One that is stored already changes nothing.
	SaveDirRecords(ctx context.Context, records []*DirRecord) error
	// Failures returns the last failed attempt at each directory, unless a record
	// has followed it.
	Failures(ctx context.Context) (map[repo.Path]DirFailure, error)
	// SaveFailure stores a failed attempt.
	SaveFailure(ctx context.Context, f DirFailure) error
}

// MaxPastRecords is how many older summaries of a directory ken compares with its current
// content.
const MaxPastRecords = 32

// A DirVersion is a directory with one basis.
type DirVersion struct {
	Path  repo.Path
	Basis fresh.Digest
}

// A DirFailure is an attempt to summarise a directory that failed.
type DirFailure struct {
	Path   repo.Path
	Basis  fresh.Digest // of the directory at that time
	Reason string
	At     time.Time
}
