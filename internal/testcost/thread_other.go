//go:build !linux

package testcost

import "time"

var begin = time.Now()

// threadTime returns the running time of the process, because not every system reports the time of a thread.
func threadTime() time.Duration { return time.Since(begin) }
