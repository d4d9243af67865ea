package state

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// processStart returns when a process started.
func processStart(pid int) (time.Time, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(p.Proc.P_starttime.Unix()), true
}

// running reports whether there is such a process here. One that has ended and
// whose parent has not looked yet is not.
func running(pid int) bool {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	const zombie = 5 // SZOMB of <sys/proc.h>
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil || p.Proc.P_stat != zombie
}
