//go:build unix

package git

import (
	"os"
	"strconv"
	"syscall"
)

// ownedByUser reports whether a file belongs to the user who runs ken. Root may also use the
// files of the user who called sudo.
func ownedByUser(file string) bool {
	info, err := os.Lstat(file)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	user := os.Geteuid()
	if int(stat.Uid) == user {
		return true
	}
	if user != 0 {
		return false
	}
	caller, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
	return err == nil && uint64(stat.Uid) == caller
}
