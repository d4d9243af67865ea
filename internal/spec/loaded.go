package spec

import (
	"context"
	"slices"
	"sync"

	"ken/internal/repo"
)

// LoadedSpecs are the spec files of one work tree as they were last read. A server keeps them, because it reads specs
// after every change of any file: opening thousands of files takes ten times as long as comparing their stats. The zero
// value is ready to use.
type LoadedSpecs struct {
	mu     sync.Mutex
	files  []repo.LoadedFile
	digest repo.StatDigest
}

// specs returns the spec files of the reader's checkout, as specFiles does.
func (r *Reader) specs(ctx context.Context) ([]repo.LoadedFile, repo.StatDigest, error) {
	defer r.notify(readSpecs)
	last := r.opts.Loaded
	if last == nil {
		return specFiles(ctx, r.ws.Files, r.ws.Git)
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	if !r.ws.Files.Unchanged(ctx, last.digest) {
		files, digest, err := specFiles(ctx, r.ws.Files, r.ws.Git)
		if err != nil {
			return nil, repo.StatDigest{}, err
		}
		last.files = files
		last.digest = digest
	}
	return slices.Clone(last.files), last.digest, nil
}

// unchanged reports whether the spec files of the reader's checkout certainly still have the stats of a digest.
func (r *Reader) unchanged(ctx context.Context, digest repo.StatDigest) bool {
	same := r.ws.Files.Unchanged(ctx, digest)
	if same {
		r.notify(readUnchanged)
	}
	return same
}
