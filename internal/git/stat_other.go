//go:build !linux

package git

import (
	"io/fs"

	"ken/internal/repo"
)

// statOf knows no ctime or inode here. It only stamps the index file, and only
// counts where that carries no checksum.
func statOf(info fs.FileInfo) repo.Stat {
	return repo.Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
}
