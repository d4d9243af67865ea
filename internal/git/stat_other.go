//go:build !linux

package git

import (
	"io/fs"

	"ken/internal/repo"
)

// statOf has no ctime and inode on this system. It is used to compare versions of an index file without a
// checksum.
func statOf(info fs.FileInfo) repo.Stat {
	return repo.Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
}
