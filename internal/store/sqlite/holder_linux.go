package sqlite

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// holder returns the id of the process that has the write lock on a database. The lock is on the file itself with a
// rollback journal, and on the -shm file in WAL mode. It returns 0 if there is none or it is outside this container.
func holder(path string) (pid int, name string) {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, ""
	}
	inodes := make(map[string]bool)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		var st syscall.Stat_t
		if syscall.Stat(path+suffix, &st) == nil {
			inodes[strconv.FormatUint(st.Ino, 10)] = true
		}
	}
	pid = lockHolder(string(locks), inodes, os.Getpid())
	if pid == 0 {
		return 0, ""
	}
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return pid, strings.TrimSpace(string(comm))
}

// lockHolder reads /proc/locks, whose lines look like
//
//	1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 128 128
//
// with "->" after the number for a waiting process. lockHolder ignores the device numbers, because on btrfs they
// differ from those of stat.
func lockHolder(locks string, inodes map[string]bool, self int) int {
	for line := range strings.Lines(locks) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] == "->" || f[3] != "WRITE" {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		inode := f[5][strings.LastIndexByte(f[5], ':')+1:]
		if err == nil && pid > 0 && pid != self && inodes[inode] {
			return pid
		}
	}
	return 0
}
