package sqlite

import "syscall"

// walIsSafe reports whether WAL can be trusted in a directory. One that cannot
// be looked at is taken for an ordinary one; opening the file will tell.
func walIsSafe(dir string) bool {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return true
	}
	return walSafeOn(uint32(st.Type))
}

// full reports whether the file system that holds dir has no room left.
func full(dir string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < 1<<20
}
