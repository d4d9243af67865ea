package sqlite

import "syscall"

// walIsSafe reports whether WAL is safe in a directory. It returns true if statfs fails; opening the file then
// fails too.
func walIsSafe(dir string) bool {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return true
	}
	var name []byte
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return walSafeOnNamed(string(name))
}

// full reports whether the file system of dir is full.
func full(dir string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < 1<<20
}
