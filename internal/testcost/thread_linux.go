package testcost

import (
	"syscall"
	"time"
)

// threadTime returns the processor time of this thread.
func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		panic(err) // its arguments are valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
