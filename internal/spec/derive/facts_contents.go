package derive

import (
	"context"
	"fmt"

	"ken/internal/repo"
)

// A BlobBatch collects lookups of blob ids by commit and path, and does them in one request. It never repeats a
// lookup.
type BlobBatch struct {
	h       History
	c       Contents
	known   map[commitPath]repo.ID
	pending []commitPath
	files   map[repo.Path]*file // files whose touches are known
	Err     error               // the first error; no request is made after it
}

// A commitPath is a path in a commit.
type commitPath struct {
	commit repo.CommitNumber
	path   repo.Path
}

// NewBlobBatch returns an empty batch of lookups in the contents of a history.
func NewBlobBatch(h History, c Contents) *BlobBatch {
	return &BlobBatch{h: h, c: c, known: make(map[commitPath]repo.ID)}
}

// Request adds a lookup. It skips a path before the first commit that touched it: the path does not exist there, and
// a lookup of a missing path is the slowest.
func (b *BlobBatch) Request(commit repo.CommitNumber, path repo.Path) {
	at := commitPath{commit, path}
	if _, asked := b.known[at]; asked {
		return
	}
	b.known[at] = repo.ID{}
	if f := b.files[path]; f == nil || len(f.touches) == 0 || f.touches[0].Commit <= commit {
		b.pending = append(b.pending, at)
	}
}

// Fetch does the lookups that were added. It stores a failure in Err, for the callers that need the results. It
// returns an error only if the context is done.
func (b *BlobBatch) Fetch(ctx context.Context) error {
	if len(b.pending) == 0 || b.Err != nil {
		return nil
	}
	places := make([]repo.CommitPath, len(b.pending))
	ids := make(map[repo.CommitNumber]repo.ID)
	for i, at := range b.pending {
		id, ok := ids[at.commit]
		if !ok {
			id = b.h.Commit(at.commit).ID
			ids[at.commit] = id
		}
		places[i] = repo.CommitPath{Commit: id, Path: at.path}
	}
	found, err := b.c.At(ctx, places)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		b.Err = err
	case len(found) != len(places):
		b.Err = fmt.Errorf("%d answers about %d contents", len(found), len(places))
	default:
		for i, at := range b.pending {
			b.known[at] = found[i]
		}
	}
	b.pending = b.pending[:0]
	return nil
}

// At returns the result of a lookup, zero if the path does not exist.
func (b *BlobBatch) At(commit repo.CommitNumber, path repo.Path) repo.ID {
	return b.known[commitPath{commit, path}]
}

// knows reports whether a lookup was done.
func (b *BlobBatch) knows(commit repo.CommitNumber, path repo.Path) bool {
	_, asked := b.known[commitPath{commit, path}]
	return asked && b.Err == nil
}
