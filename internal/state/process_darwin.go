package state

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// processStart returns the start time of a process.
func processStart(pid int) (time.Time, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(p.Proc.P_starttime.Unix()), true
}

// running reports whether the process exists and is not a zombie.
func running(pid int) bool {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	const zombie = 5 // SZOMB of <sys/proc.h>
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil || p.Proc.P_stat != zombie
}
