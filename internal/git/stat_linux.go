package git

import (
	"io/fs"
	"syscall"

	"ken/internal/repo"
)

func statOf(info fs.FileInfo) repo.Stat {
	s := repo.Stat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Ctime = sys.Ctim.Nano()
		s.Inode = sys.Ino
	}
	return s
}
