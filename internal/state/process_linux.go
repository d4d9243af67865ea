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

// process reports whether a process runs, and its start to a hundredth of a second, zero if
// that is unknown. A zombie does not run.
func process(pid int) (start time.Time, running bool) {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return time.Time{}, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The fields from the third one, the state. The second field is the command in parentheses,
	// which may contain blanks and parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const at, perSecond = 22 - 3, 100 // USER_HZ is 100 on every architecture of Go
	if err != nil || len(fields) <= at {
		return time.Time{}, true
	}
	var up unix.Timespec
	ticks, err := strconv.ParseInt(string(fields[at]), 10, 64)
	if err == nil {
		err = unix.ClockGettime(unix.CLOCK_BOOTTIME, &up)
	}
	if err == nil {
		age := time.Duration(up.Nano()) - time.Duration(ticks)*(time.Second/perSecond)
		start = time.Now().Add(-age).UTC()
	}
	return start, fields[0][0] != 'Z'
}
