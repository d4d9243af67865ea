package repo

import "time"

// A DiskUsage is the space that a file or a directory takes.
type DiskUsage struct {
	Dir     bool
	Files   int
	Bytes   int64
	Touched time.Time // when the newest file was modified, or the directory if it holds none
	// Missed says why there may be more than this, "" when all was counted.
	Missed string
}
