package local

import (
	"context"
	"path/filepath"

	"ken/internal/repo"
	"ken/internal/store/sqlite"
)

// outlinesLimit is how many bytes the outlines may take on disk: those of some
// 80,000 contents.
const outlinesLimit = 256 << 20

// Outlines are what was seen in contents, kept so that it need not be looked for
// again: bytes, by the content's id and by what saw it. They can be lost at any time,
// and never fail: what cannot be read is not there, and what cannot be written is let
// go. They are safe for concurrent use.
type Outlines struct{ cache *sqlite.Cache }

// OpenOutlines returns those of the repository whose worktrees share a git directory.
// Nothing is touched before the first call.
func OpenOutlines(commonDir string) *Outlines {
	return &Outlines{sqlite.OpenCache(filepath.Join(commonDir, "ken", "cache", "outlines.db"), outlinesLimit)}
}

// Load returns the outlines that are kept of some contents. The maker names what made
// them, with its version: those of another are not returned. The only error is that of
// a context that is done.
func (o *Outlines) Load(ctx context.Context, maker string, ids []repo.ID) (map[repo.ID][]byte, error) {
	return o.cache.Load(ctx, maker, ids)
}

// Save keeps outlines, if it can. The only error is that of a context that is done.
func (o *Outlines) Save(ctx context.Context, maker string, outlines map[repo.ID][]byte) error {
	return o.cache.Save(ctx, maker, outlines)
}

// Close lets go of the file.
func (o *Outlines) Close() { o.cache.Close() }
