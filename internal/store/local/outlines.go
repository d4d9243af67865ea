package local

import (
	"context"
	"path/filepath"

	"ken/internal/repo"
	"ken/internal/store/sqlite"
)

// outlinesLimit is the largest size of the outlines on disk in bytes, enough for some 80,000 contents.
const outlinesLimit = 256 << 20

// Outlines stores outlines and references as bytes, by content id and by the version of their maker. They may be
// lost at any time. Reading and writing do not fail: unreadable data counts as missing, and data that cannot be
// written is dropped. Outlines are safe for concurrent use.
type Outlines struct{ cache *sqlite.Cache }

// OpenOutlines returns the outlines of the clone whose worktrees share a git directory. It touches no file.
func OpenOutlines(commonDir string) *Outlines {
	return &Outlines{sqlite.OpenCache(filepath.Join(commonDir, "ken", "cache", "outlines.db"), outlinesLimit)}
}

// Load returns the stored outlines of some contents by a maker, which is a name with a version. The only error is
// that of a context that is done.
func (o *Outlines) Load(ctx context.Context, maker string, ids []repo.ID) (map[repo.ID][]byte, error) {
	return o.cache.Load(ctx, maker, ids)
}

// Save stores outlines if possible. The only error is that of a context that is done.
func (o *Outlines) Save(ctx context.Context, maker string, outlines map[repo.ID][]byte) error {
	return o.cache.Save(ctx, maker, outlines)
}

// Close closes the file.
func (o *Outlines) Close() { o.cache.Close() }
