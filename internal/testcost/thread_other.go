//go:build !linux

package testcost

import "time"

var begin = time.Now()

// threadTime returns how long the process has run: the nearest that is known on every system.
func threadTime() time.Duration { return time.Since(begin) }
