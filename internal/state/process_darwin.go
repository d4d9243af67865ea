package state

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// process reports whether a process runs, and its start, zero if that is unknown. A zombie
// does not run.
func process(pid int) (start time.Time, running bool) {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return time.Time{}, false
	}
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return time.Time{}, true
	}
	const zombie = 5 // SZOMB of <sys/proc.h>
	return time.Unix(p.Proc.P_starttime.Unix()).UTC(), p.Proc.P_stat != zombie
}
