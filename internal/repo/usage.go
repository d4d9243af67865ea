package repo

import "time"

// A DiskUsage is the space that a file or a directory takes.
type DiskUsage struct {
	Dir     bool
	Files   int
	Bytes   int64
	Touched time.Time // when the newest file was modified; for a directory without files, when the directory was
	// Missed says why the counts may be too low, "" if everything was counted.
	Missed string
}
