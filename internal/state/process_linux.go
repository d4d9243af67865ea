package state

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processStart returns the start time of a process, to a hundredth of a second.
func processStart(pid int) (time.Time, bool) {
	fields, ok := processStat(pid)
	const at, perSecond = 22 - 3, 100 // USER_HZ is 100 on every architecture of Go
	if !ok || len(fields) <= at {
		return time.Time{}, false
	}
	ticks, err := strconv.ParseInt(string(fields[at]), 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}, false
	}
	age := time.Duration(up.Nano()) - time.Duration(ticks)*(time.Second/perSecond)
	return time.Now().Add(-age), true
}

// running reports whether the process exists and is not a zombie.
func running(pid int) bool {
	err := unix.Kill(pid, 0)
	if err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	fields, ok := processStat(pid)
	return !ok || fields[0][0] != 'Z'
}

// processStat returns the fields of /proc/<pid>/stat from the third one, the state.
func processStat(pid int) ([][]byte, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, false
	}
	// The second field is the command in parentheses, which may contain blanks and
	// parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return fields, len(fields) > 0
}
