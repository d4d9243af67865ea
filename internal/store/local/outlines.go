package local

import (
	"path/filepath"

	"ken/internal/store/sqlite"
)

// outlinesLimit is the largest size of the outlines on disk in bytes, enough for some 80,000 contents.
const outlinesLimit = 256 << 20

// Outlines stores outlines and references by content id and by the version of their maker.
type Outlines = sqlite.Cache

// OpenOutlines returns the outlines of the clone whose worktrees share a git directory. It touches no file.
func OpenOutlines(commonDir string) *Outlines {
	return sqlite.OpenCache(filepath.Join(commonDir, "ken", "cache", "outlines.db"), outlinesLimit)
}
