package sqlite

import "syscall"

// walIsSafe reports whether WAL is safe in a directory. It returns true if statfs fails; opening the file then
// fails too.
func walIsSafe(dir string) bool {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return true
	}
	return walSafeOn(uint32(st.Type))
}

// full reports whether the file system of dir is full.
func full(dir string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < 1<<20
}
